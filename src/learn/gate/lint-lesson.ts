import { splitFoldedSentences } from '../../text/sentences.ts';
import { clip } from '../../text/truncate.ts';
import {
  findForeignInstructions,
  type InstructionRule,
  OVERSIGHT_RULES,
  RISKY_ACTION_RULES,
} from './injected-instructions.ts';
import { findNamedCommands } from './lesson-commands.ts';
import type { LiteralProvenance } from './literal-provenance.ts';
import { decodeViews, foldedWords, foldText, hasHomoglyphs } from './normalize-text.ts';

const FETCHES = 'a command that fetches from the network';
const DELETES = 'a command that deletes';
const REWRITES = 'a command that rewrites what others have';
const INSTALLS_PACKAGE = 'a package to be installed';

const FORBIDS =
  /(?:\b(?:never|not|no|avoid|avoids|avoiding|refrain from|rather than|instead of|wrong:|bad:|mistake:)|n't)(?![^,;:]{0,60}\b(?:forget|omit|skip|leav|fail|not|neglect|delay|refus|hesitat|miss|mind|worr|without|before|until|unless|instead|only|just|matter|but)\w*\b)[^,;:]{0,90}$/;
const ANTI_PATTERN = /^\W{0,6}anti-?patterns?:/;
/** An anti-pattern of omission ('forgetting to …') asks for the act instead of forbidding it. */
const OMITS = /\b(?:not|never|no|without|forget|omit|skip|leav|fail|neglect|miss|delay|refus|hesitat)\w*\b/;
const RULES: readonly InstructionRule[] = [...OVERSIGHT_RULES, ...RISKY_ACTION_RULES];
const LONGEST_SHOWN = 60;

/** Risky commands that the agent's own success may prove; the others need a person's words. */
const PROVABLE: ReadonlySet<string> = new Set([FETCHES, DELETES, REWRITES, INSTALLS_PACKAGE]);

export interface LintContext {
  /** Who brought addresses, packages and commands up; without it, only a person's words count for them. */
  readonly provenance?: LiteralProvenance;
  /** Whether a normalized sentence only says what people or verifiers said. */
  readonly isTheirs?: (sentence: string) => boolean;
}

/**
 * Reasons, for a person, to review a lesson before it is used; empty when there are none. `trusted`: normalized text of people
 * and verifiers. What they asked for themselves is not reported, unless the rule says that nobody asks for it in earnest; nor
 * is an address, a package or a command that the agent used with success before any outside text named it.
 */
export function lintLesson(
  words: string,
  trusted: readonly string[],
  { provenance, isTheirs = () => false }: LintContext = {},
): readonly string[] {
  const asked = trusted.join('\n');
  const isProven = (literal: string): boolean => provenance?.ofName(literal) === 'proven';
  const why = new Set<string>();
  if (hasHomoglyphs(words)) why.add('it mixes look-alike letters of another script into words');
  const blob = findBlob(words);
  if (blob !== undefined && !asked.includes(foldText(blob)))
    why.add(`it contains encoded data: ${clip(blob, LONGEST_SHOWN)}`);
  for (const view of decodeViews(words)) {
    for (const { kind, text } of findAddresses(view))
      if (!asked.includes(text) && !isProven(text))
        why.add(`it names ${kind} that neither a person nor a verifier gave: ${clip(text, LONGEST_SHOWN)}`);
    for (const markup of findMarkup(withoutAsked(view, asked))) why.add(`it contains ${markup}`);
    for (const { text, isOrdinary } of provenance === undefined ? [] : findNamedCommands(view)) {
      const from = asked.includes(text) ? 'given' : provenance?.ofCommand(text);
      if (from === 'outside') why.add(`this command comes from outside text: ${clip(text, LONGEST_SHOWN)}`);
      else if (from === 'unknown' && !isOrdinary)
        why.add(
          `it names a command that nobody gave and that did not succeed here: ${clip(text, LONGEST_SHOWN)}`,
        );
    }
    for (const sentence of splitFoldedSentences(view)) {
      const isWish = isTheirs(sentence);
      for (const command of findCommands(sentence)) {
        if (isForbidden(sentence, command.index) || asked.includes(command.text)) continue;
        if (isWish && hasLiterals(asked, command.text)) continue;
        if (PROVABLE.has(command.why) && isProven(codeAround(sentence, command))) continue;
        if (command.why === FETCHES && isUsualProgram(sentence, command, provenance)) continue;
        why.add(`it contains ${command.why}: ${clip(command.text, LONGEST_SHOWN)}`);
      }
      for (const rule of RULES)
        if (!(isWish && rule.mayBeAsked === true) && breaks(rule, sentence, trusted)) why.add(rule.why);
      for (const order of findForeignInstructions(sentence)) why.add(order);
    }
  }
  return [...why];
}

/** Whether people wrote every option, path and address of a command themselves, in whatever order. */
const hasLiterals = (asked: string, command: string): boolean => {
  const literals = command.split(/\s+/).filter((word) => /^-|[./:@=|`$]/.test(word));
  return literals.length > 0 && literals.every((literal) => asked.includes(literal.replace(/[.,;:]+$/, '')));
};

/** A sentence about a program that worked here, which names no place to fetch from: "give curl the CA file". */
function isUsualProgram(
  sentence: string,
  { index }: RiskyCommand,
  provenance: LiteralProvenance | undefined,
): boolean {
  const program = /[a-z][\w-]*/.exec(sentence.slice(index))?.[0] ?? '';
  return findAddresses(sentence).length === 0 && provenance?.ofCommand(program) === 'proven';
}

/** A comment that people themselves asked for is not hidden text. */
const withoutAsked = (view: string, asked: string): string =>
  view.replace(/<!--[^<>]{0,200}-->/g, (comment) => (asked.includes(comment) ? '' : comment));

/** Every match counts: a sentence may forbid a thing first and ask for it afterwards. */
function breaks(rule: InstructionRule, sentence: string, trusted: readonly string[]): boolean {
  for (const { 0: said, index } of sentence.matchAll(rule.pattern)) {
    if (rule.mayBeForbidden === true && isForbidden(sentence, index)) continue;
    if (rule.mayBeAsked !== true || !isAsked(rule, said, trusted)) return true;
  }
  return false;
}

/** Whether the sentence forbids what it names at `index`. */
function isForbidden(sentence: string, index: number): boolean {
  const before = sentence.slice(0, index);
  const head = ANTI_PATTERN.exec(before)?.[0];
  return head === undefined ? FORBIDS.test(before) : !OMITS.test(before.slice(head.length));
}

/** Whether trusted text asks for the same: one of its sentences matches the rule and has all words of this match. */
function isAsked(rule: InstructionRule, said: string, trusted: readonly string[]): boolean {
  const words = foldedWords(said);
  return trusted.some((text) =>
    splitFoldedSentences(text).some((sentence) => {
      if (sentence.search(rule.pattern) < 0) return false;
      const known = new Set(foldedWords(sentence));
      return words.every((word) => known.has(word));
    }),
  );
}

/** A network address that a lesson names. */
interface NamedAddress {
  readonly kind: 'a URL' | 'an e-mail address' | 'an IP address' | 'a host';
  readonly text: string;
}

const URL = /\b[a-z][a-z0-9+.-]{1,12}(?::|\(:\)|\[:\])\/\/[^\s"'`<>)\]]{1,500}/g;
const OTHER_URL =
  /\b(?:mailto|tel|sms|javascript|data|vbscript|magnet|ssh|git)\s?:[^\s/"'`<>)\]][^\s"'`<>)\]]{2,500}/g;
const MAIL = /[a-z0-9._%+-]{1,64}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}/g;
const SPELLED_MAIL =
  /[a-z0-9._-]{2,64} ?(?:\(at\)|\[at\]|\{at\}| at ) ?[a-z0-9-]{2,63} ?(?:\(dot\)|\[dot\]|\{dot\}| dot ) ?[a-z]{2,24}\b/g;
const IPV4 = /(?<!\bversion )(?<!\brelease )(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.]?\d)/g;
const IPV6 = /(?<![\w:])(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{1,4}(?![\w:])/g;
const NUMBER_HOST = /\b0x[0-9a-f]{8}\b/g;
const HOST =
  /(?<![\w@./\\$-])(?:[a-z0-9-]{1,63}(?:\.|\[\.\]|\(\.\)|\[dot\]|\(dot\)| dot )){1,6}(?:com|net|org|io|ai|biz|xyz|online|site|website|cloud|host|space|club|ru|cn|tk|su|pw|icu|onion|ws|cc|gg|ly|eu|ch|uk|nl|page|chat|run)\b(?![\w-]|\.[a-z])(?:\/[^\s"'`<>)\]]{0,200})?/g;

/** Names that lead nowhere but to the reader's own machine, or are kept free for examples. */
const HARMLESS =
  /^(?:[a-z][a-z0-9+.-]{1,12}:\/\/)?(?:[^@/\s]{1,64}@)?(?:localhost|127\.0\.0\.1|\[::1\]|::1|0x7f000001|(?:[a-z0-9-]{1,63}\.){0,4}(?:example(?:\.(?:com|org|net))?|test|invalid|localhost))(?::\d{1,5})?(?:[/?#].{0,500})?$/;
/** Qualified names in code that end like a host name. */
const CODE =
  /^(?:java|javax|system|socket|node|torch|asp|kotlin|scala|org|com|net|io|std|akka|self|this|app|req|res|process|engine)\./;

/** Addresses outside the reader's machine in a normalized text. */
function findAddresses(folded: string): readonly NamedAddress[] {
  const found = new Map<string, NamedAddress>();
  const take = (
    kind: NamedAddress['kind'],
    pattern: RegExp,
    isAddress: (text: string) => boolean = () => true,
  ) => {
    for (const [match] of folded.matchAll(pattern)) {
      const text = match.replace(/[.,;:!?]+$/, '');
      const isKnown = [...found.keys()].some((known) => known.includes(text));
      if (!isKnown && !HARMLESS.test(text) && isAddress(text)) found.set(text, { kind, text });
    }
  };
  take('a URL', URL);
  take('a URL', OTHER_URL);
  take('an e-mail address', MAIL);
  take('an e-mail address', SPELLED_MAIL);
  take('an IP address', IPV4, (text) => text.split('.').every((part) => Number(part) <= 255));
  take(
    'an IP address',
    IPV6,
    (text) => /\d/.test(text) && (text.includes('::') || text.split(':').length === 8),
  );
  take('an IP address', NUMBER_HOST);
  take('a host', HOST, (text) => !CODE.test(text));
  return [...found.values()];
}

/** Commands and settings that a person reviews before a lesson may contain them. */
const COMMANDS: readonly (readonly [why: string, pattern: RegExp])[] = [
  [
    FETCHES,
    /(?:^|[\s`"'(|;&$])(?:curl|wget|aria2c|httpie|lynx|nc|ncat|netcat|telnet|socat|ftp|sftp|scp|rsync|ssh|sshpass|iwr|irm|invoke-webrequest|invoke-restmethod|start-bitstransfer|certutil|bitsadmin|dig|nslookup|ngrok|cloudflared)(?=\s+[-"'$`\w./@~]|`|$)(?!\s+(?:is|are|was|and|or|to|for|may|can|does|with|commands?|output)\b)/gm,
  ],
  [
    'a pipe into an interpreter',
    /[|;&]\s*(?:sudo\s+)?(?:ba|z|da|k|fi)?sh\b|\|\s*(?:python\d?|perl|ruby|node|php|iex|powershell|pwsh|cmd)\b|<\(\s*(?:curl|wget)/g,
  ],
  [
    'code that is run from text',
    /\beval\s*[("'$`]|\bexec\s*\(|\biex\b|invoke-expression|\bsource\s+<\(|\b(?:ba|z)?sh\s+-c\b|\b(?:python\d?|perl|ruby|node|php)\s+-[ce]\b|-enc(?:odedcommand)?\s|\bos\.system\s*\(|shell\s?=\s?true|pickle\.loads?\b|\bdeserialize untrusted/g,
  ],
  [
    'a decoder of hidden text',
    /\bbase64\s+(?:-d|-di|--decode)\b|\batob\s*\(|\bb64decode\b|frombase64string|\bxxd\s+-r\b|\bopenssl\s+(?:enc|base64)\b|\buudecode\b|\bfromcharcode\b/g,
  ],
  [
    DELETES,
    /\brm\s+-[a-z]*[rf]|\brmdir\s+\/s|\bdel\s+\/[sfq]|remove-item\b.{0,60}-recurse|\bshred\b\s|\bmkfs|\bdd\s+if=|\bformat\s+[a-z]:|\bgit\s+clean\s+-[a-z]*f|\bgit\s+reset\s+--hard|\bgit\s+(?:checkout|restore)\s+(?:--\s+)?\.(?=\s|$|`)|\bfind\b.{0,80}-delete\b|\btruncate\s+-s|\bdrop\s+(?:table|database|schema)\b|\bdelete\s+from\s+\w+\s*(?:;|`|$)|\btruncate\s+table\b|\bkubectl\s+delete\b|\bterraform\s+destroy\b|\bdocker\s+(?:system|volume)\s+(?:prune|rm)\b|\bflushall\b|shutil\.rmtree|\brimraf\b/g,
  ],
  [
    REWRITES,
    /\bpush\b.{0,40}(?:\s--force\b(?!-with-lease)|\s-f\b)|\bfilter-(?:branch|repo)\b|\bgit\s+config\s+(?:--global|--system)|\bgit\s+remote\s+(?:add|set-url)\b/g,
  ],
  [
    'a command with more rights',
    /(?:^|[\s`"'(|;&])(?:sudo|doas|su\s+-|runas)\s|\bchmod\s+(?:-r\s+)?(?:[0-7]?777|[0-7]?666|a\+|o\+w|\+s|u\+s)|\bchown\s+-r\b|\bsetcap\b|\busermod\b|\buseradd\b|\bnet\s+user\b|--privileged\b|\bcap_add\b|set-executionpolicy|\bvisudo\b|\bxattr\s+-[a-z]*d/g,
  ],
  [
    'a command that stays running or comes back',
    /\bcrontab\b|\bnohup\b|\bsystemctl\s+(?:enable|disable|stop|mask)|\blaunchctl\b|\bschtasks\b|\breg\s+add\b|\bsc\s+(?:create|config)\b|\bsetx\b|\bdisown\b|\bat\s+now\b|\bhistory\s+-c\b|\bunset\s+histfile|\bkill(?:all)?\s+-9|\bpkill\b/g,
  ],
  [
    'a setting that lowers a protection',
    /verify\s?=\s?false|rejectunauthorized|node_tls_reject_unauthorized|--insecure\b|--no-verify\b|--no-gpg-sign\b|--no-check-certificate|--allow-unauthenticated|--trusted-host\b|stricthostkeychecking|sslverify\b|pythonhttpsverify|insecureskipverify|--disable-(?:web-security|gpu-sandbox|setuid-sandbox)|--no-sandbox\b|--dangerously|--allow-all\b|--unsafe|--ignore-scripts=false|access-control-allow-origin['"]?\s?[:,]\s?['"]?\*|\b0\.0\.0\.0\b|public-read|allusers\b|\bbypass\b.{0,20}\bcsp\b|csrf_exempt|\becb\b mode|setenforce\s+0|ufw\s+disable|iptables\s+-f|\bverify_signature['"]?\s?:\s?false|alg['"]?\s?:\s?['"]?none|check_hostname\s?=\s?false|cert_none|-k\s+https?:/g,
  ],
  [
    'a change of where packages or models come from',
    /(?:--index-url|--extra-index-url|--registry|--find-links|index-url|registry\s?=|goproxy|pip_index_url|npm_config_registry|add-apt-repository|apt-key|\b(?:openai|anthropic|api)_base(?:_url)?\b|base_url\s?=|https?_proxy\b|all_proxy\b)/g,
  ],
];

const INSTALL =
  /\b(?:npm|pnpm|yarn|bun|pip3?|pipx|uv|poetry|cargo|gem|go|brew|apt(?:-get)?|apk|dnf|yum|conda|mamba|composer|dotnet|choco|winget|npx|uvx|bunx|code)\s+(?:(?:global|pip|tool|package)\s+)?(?:(?:install|add|i|get|require|exec|dlx|--install-extension)\s{1,4})?(?:-[\w=-]{0,40}\s{1,4}){0,8}([@a-z0-9][\w@./:+-]{1,120})/g;
const RUNNERS = /\b(?:npx|uvx|bunx)\s/;
/** Development tools that a project usually depends on. */
const PROJECT_TOOLS =
  /^(?:tsc|vitest|jest|eslint|prettier|biome|vite|webpack|playwright|cypress|mocha|nx|turbo|next|prisma|ruff|mypy|black|pytest|knip|tsx)$/;
const INSTALLS = /\s(?:install|add|i|get|require|exec|dlx|--install-extension)\s/;
/** Words after an install command that name no package. */
const NO_PACKAGE =
  /^(?:-r$|\.|requirements[\w.-]*\.txt$|[\w./-]*\.(?:txt|toml|lock|ya?ml|json)$|\/|(?:un)?install$|run$|add$|get$|test$|the$|and$|or$|to$|in$|again$|before$|after$|it$|them$|all$|its?$|what|from$|every|new$|if$|with$|packages?$|dependenc|instead$|only$|once$|any$)/;

interface RiskyCommand {
  readonly why: string;
  readonly text: string;
  readonly index: number;
}

/** The commands and settings in a normalized text that can do harm, each with the reason. */
function findCommands(folded: string): readonly RiskyCommand[] {
  const found: RiskyCommand[] = [];
  for (const [why, pattern] of COMMANDS) {
    for (const match of folded.matchAll(pattern))
      found.push({ why, text: around(folded, match), index: match.index });
  }
  for (const match of folded.matchAll(INSTALL)) {
    const [whole, name = ''] = match;
    if (!INSTALLS.test(`${whole} `) && !RUNNERS.test(whole)) continue;
    if (NO_PACKAGE.test(name) || PROJECT_TOOLS.test(name)) continue;
    found.push({ why: INSTALLS_PACKAGE, text: name.replace(/[.,;:]+$/, ''), index: match.index });
  }
  return found;
}

/** The code in which a command stands; a package stands for itself. */
function codeAround(sentence: string, { why, text, index }: RiskyCommand): string {
  if (why === INSTALLS_PACKAGE) return text;
  const from = sentence.lastIndexOf('`', index);
  const to = sentence.indexOf('`', Math.max(from + 1, index));
  return from < 0 || to < 0 ? text : sentence.slice(from + 1, to);
}

/** A match with the surrounding part of its line. */
function around(text: string, { index, 0: { length } }: RegExpExecArray): string {
  const from = Math.max(text.lastIndexOf('\n', index) + 1, index - 20);
  const end = text.indexOf('\n', index + length);
  return text.slice(from, Math.min(end < 0 ? text.length : end, index + length + 30)).trim();
}

const MARKUP: readonly (readonly [why: string, pattern: RegExp])[] = [
  ['an image', /!\[[^\]\n]{0,200}\]\s?[([]|<img\b|<picture\b|<svg\b/],
  ['a hidden comment', /<!--|^\s{0,3}\[(?:\/\/|comment|#|_metadata_)\]\s?:|\{\/\*|%%\{|<\?[a-z]/m],
  [
    'a link that runs code',
    /\]\(\s{0,3}<?\s{0,3}(?:javascript|data|vbscript|file|blob)\s{0,3}:|(?:href|src|action)\s?=\s?["']?\s?(?:javascript|data|vbscript)\s?:/,
  ],
  ['a link', /\[[^\]\n]{1,200}\]\([^)\n]{1,400}\)|^\s{0,3}\[[^\]\n]{1,100}\]:\s?\S/m],
  [
    'active HTML',
    // A bare <summary> or <link> is a placeholder; with attributes, or closed, it is an element.
    /<\/?(?:script|iframe|embed|noscript|frame|marquee)\b|<(?:object|form|input|meta|base|style|link|details|summary|template|math|video|audio)(?:\s+[a-z-]{1,20}\s?=|\s?\/>)|<\/(?:object|form|style|details|summary|template|math|video|audio)>|\son(?:error|load|click|mouseover|focus)\s?=/,
  ],
  [
    'markup that imitates another speaker',
    /<\|?(?:im_start|im_end|system|endoftext|eot_id|start_header_id|end_header_id)\|?>|\[\/?(?:inst|sys|system)\]|<<\/?sys>>|<\/?(?:system|system-reminder|system_prompt|tool_result|tool_use|function_results?|function_calls?)\b[^<>\n]{0,80}>|<\/(?:instructions?|assistant|user|human|skills?|lessons?|admin|context|memory)>|^\s{0,3}<(?:instructions?|assistant|user|human|skills?|lessons?|admin|context|memory)>\s{0,3}$/m,
  ],
  ['front matter', /^---[a-z]{0,10}\n/],
];

/** Markup in a normalized Markdown text that acts on a page or imitates another speaker. */
const findMarkup = (folded: string): readonly string[] =>
  MARKUP.filter(([, pattern]) => pattern.test(folded)).map(([why]) => why);

const BLOB = /[A-Za-z0-9+/_-]{32,}={0,2}/g;

/** A long run of letters and digits that is no word or path: a key, a hash, encoded data. */
function findBlob(text: string): string | undefined {
  for (const [run] of text.matchAll(BLOB))
    if (/\d/.test(run) && /[a-z]/i.test(run) && (run.match(/[-_/]/g)?.length ?? 0) < run.length / 8)
      return run;
  return undefined;
}
