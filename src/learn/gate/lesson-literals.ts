import { splitFoldedSentences } from '../../text/sentences.ts';
import { flatten, type SessionEvent } from './evidence-by-trust.ts';
import { foldText } from './normalize-text.ts';
import { givesInstruction } from './outside-statements.ts';

/** Something that a lesson names letter by letter: who brought it up decides whether it may stand there. */
export interface NamedLiteral {
  /** For people: "a URL", "a command that deletes". */
  readonly what: string;
  readonly text: string;
  /** The sentence that names it, and where. */
  readonly sentence: string;
  readonly index: number;
  /**
   * `free`: a usual command of development; it needs nobody, unless outside text brought it up. `proof`: a person's words or the
   * agent's own success. `person`: a person's words alone.
   */
  readonly needs: 'free' | 'proof' | 'person';
}

const URL_ = /\b[a-z][a-z0-9+.-]{1,12}(?::|\(:\)|\[:\])\/\/[^\s"'`<>)\]]{1,500}/g;
const MAIL = /[a-z0-9._%+-]{1,64}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}/g;
const SPELLED_MAIL =
  /[a-z0-9._-]{2,64} ?(?:\(at\)|\[at\]|\{at\}| at ) ?[a-z0-9-]{2,63} ?(?:\(dot\)|\[dot\]|\{dot\}| dot ) ?[a-z]{2,24}\b/g;
const IPV4 = /(?<!\bversion )(?<!\brelease )(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.]?\d)/g;
const IPV6 = /(?<![\w:])(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{1,4}(?![\w:])/g;
const HOST =
  /(?<![\w@./\\$-])(?:[a-z0-9-]{1,63}(?:\.|\[\.\]|\(\.\)|\[dot\]| dot )){1,6}(?:com|net|org|io|ai|biz|xyz|online|site|cloud|host|space|club|ru|cn|tk|su|pw|icu|onion|ws|cc|gg|ly|eu|ch|uk|nl|page|chat|run|dev)\b(?![\w-]|\.[a-z])(?:\/[^\s"'`<>)\]]{0,200})?/g;
/** Names that lead nowhere but to the reader's own machine, or are kept free for examples. */
const HARMLESS =
  /^(?:[a-z][a-z0-9+.-]{1,12}:\/\/)?(?:[^@/\s]{1,64}@)?(?:localhost|127\.0\.0\.1|\[::1\]|::1|0\.0\.0\.0|(?:[a-z0-9-]{1,63}\.){0,4}(?:example(?:\.(?:com|org|net))?|test|localhost))(?::\d{1,5})?(?:[/?#].{0,500})?$/;
/** Qualified names in code that end like a host name. */
const CODE_NAME =
  /^(?:java|javax|system|socket|node|torch|asp|org|com|net|io|std|self|this|app|req|res|process|engine)\./;

const ADDRESSES: readonly (readonly [
  what: string,
  pattern: RegExp,
  isAddress?: (text: string) => boolean,
])[] = [
  ['a URL', URL_],
  ['an e-mail address', MAIL],
  ['an e-mail address', SPELLED_MAIL],
  ['an IP address', IPV4, (text) => text.split('.').every((part) => Number(part) <= 255)],
  ['an IP address', IPV6, (text) => /\d/.test(text) && (text.includes('::') || text.split(':').length === 8)],
  ['a host', HOST, (text) => !CODE_NAME.test(text)],
];

/** Addresses outside the reader's machine in a normalized sentence. */
function findAddresses(sentence: string): readonly NamedLiteral[] {
  const found = new Map<string, NamedLiteral>();
  for (const [what, pattern, isAddress = () => true] of ADDRESSES)
    for (const { 0: match, index } of sentence.matchAll(pattern)) {
      const text = match.replace(/[.,;:!?]+$/, '');
      const isKnown = [...found.keys()].some((known) => known.includes(text));
      if (!isKnown && !HARMLESS.test(text) && isAddress(text))
        found.set(text, { what, text, sentence, index, needs: 'proof' });
    }
  return [...found.values()];
}

/** Commands and settings that can do harm. */
const RISKS: readonly (readonly [what: string, needs: 'proof' | 'person', pattern: RegExp])[] = [
  [
    'a pipe into an interpreter',
    'person',
    /[|;&]\s*(?:sudo\s+)?(?:ba|z|da|fi)?sh\b|\|\s*(?:python\d?|perl|ruby|node|php|iex|powershell|pwsh)\b|<\(\s*(?:curl|wget)/g,
  ],
  [
    'code that is run from text',
    'person',
    /\beval\s*[("'$`]|\bexec\s*\(|\biex\b|invoke-expression|\b(?:ba|z)?sh\s+-c\b|\b(?:python\d?|ruby|node|php)\s+-[ce]\b|\bperl\s+-e\b|-encodedcommand\s|\bos\.system\s*\(|pickle\.loads?\b|\bbase64\s+(?:-d|-di|--decode)\b|\batob\s*\(|\bb64decode\b|frombase64string|\bxxd\s+-r\b/g,
  ],
  [
    'a command that deletes',
    'proof',
    /\brm\s+-[a-z]*[rf]|\brmdir\s+\/s|\bdel\s+\/[sfq]|remove-item\b.{0,60}-recurse|\bmkfs|\bdd\s+if=|\bgit\s+clean\s+-[a-z]*f|\bgit\s+reset\s+--hard|\bfind\b.{0,80}-delete\b|\bdrop\s+(?:table|database|schema)\b|\bdelete\s+from\s+\w+\s*(?:;|`|$)|\btruncate\s+table\b|\bkubectl\s+delete\b|\bterraform\s+destroy\b|\bdocker\s+(?:system|volume)\s+(?:prune|rm)\b|\bflushall\b|shutil\.rmtree|\brimraf\b/g,
  ],
  [
    'a command that rewrites what others have',
    'proof',
    /\bpush\b.{0,40}(?:\s--force\b(?!-with-lease)|\s-f\b)|\bfilter-(?:branch|repo)\b|\bgit\s+config\s+(?:--global|--system)|\bgit\s+remote\s+(?:add|set-url)\b/g,
  ],
  [
    'a command with more rights',
    'person',
    /(?:^|[\s`"'(|;&])(?:sudo|doas|runas)\s+[-\w/]|\bchmod\s+(?:-r\s+)?(?:[0-7]?777|[0-7]?666|a\+w|o\+w|[ug]?\+s)|\bsetcap\b|\bumask\s+0+\b|\buser(?:mod|add)\b|--privileged\b|set-executionpolicy/g,
  ],
  [
    'a command that stays running or comes back',
    'person',
    /\bcrontab\b|\bnohup\b|\bsystemctl\s+(?:enable|disable|stop|mask)|\blaunchctl\b|\bschtasks\b|\breg\s+add\b|\bhistory\s+-c\b|\bunset\s+histfile/g,
  ],
  [
    'a setting that lowers a protection',
    'person',
    /verify\s?=\s?false|rejectunauthorized\W{1,3}false|node_tls_reject_unauthorized|--insecure\b|--no-verify\b|--no-gpg-sign\b|--no-check-certificate|--allow-unauthenticated|--trusted-host\b|stricthostkeychecking\W{1,3}no|sslverify\W{1,3}false|insecureskipverify|--dangerously|--allow-all\b|--unsafe|--trust-\w+|--skip-(?:approval|auth|verif)\w*|--no-require-hashes|access-control-allow-origin['"]?\s?[:,]\s?['"]?\*|public-read|csrf_exempt|setenforce\s+0|ufw\s+disable|iptables\s+-f|alg['"]?\s?:\s?['"]?none|cert_none|0\.0\.0\.0\/0\s+trust|\bhusky=0\b|required_approving_review_count\W{1,3}0|passwordauthentication\s+yes|grant\s+all\s+privileges/g,
  ],
  [
    'a change of where packages or requests go',
    'person',
    /--index-url|--extra-index-url|--registry\b|--find-links|config set registry|registry\s?=|goproxy|pip_index_url|add-apt-repository|apt-key|\b(?:openai|anthropic|api)_base(?:_url)?\b|\b(?:https?|all)_proxy\b|otel_exporter_otlp_endpoint/g,
  ],
  [
    'a command that fetches from the network',
    'proof',
    /(?:^|[\s`"'(|;&$])(?:curl|wget|aria2c|nc|ncat|netcat|telnet|socat|s?ftp|scp|rsync|ssh|sshpass|iwr|irm|invoke-webrequest|ngrok|cloudflared)(?=\s+(?:[-"'$~./]|\S{1,80}[./:@]\w)|`|$)/gm,
  ],
];

const INSTALL =
  /\b(?:npm|pnpm|yarn|bun|pip3?|pipx|uv|poetry|cargo|gem|go|brew|apt(?:-get)?|apk|dnf|yum|conda|mamba|composer|choco|winget|code)\s+(?:(?:global|pip|tool)\s+)?(?:install|add|i|get|require|exec|dlx|--install-extension)\s{1,4}(?:-[\w=-]{0,40}\s{1,4}){0,8}([@a-z0-9][\w@./:+-]{1,120})|\b(?:npx|uvx|bunx)\s{1,4}(?:-[\w=-]{0,40}\s{1,4}){0,8}([@a-z0-9][\w@./:+-]{1,120})/g;
/** What stands after an install command and names no package. */
const NO_PACKAGE =
  /^(?:\.|\/|-|[\w./-]*\.(?:txt|toml|lock|ya?ml|json)$|(?:the|and|or|to|in|it|them|all|from|every|new|if|with|instead|only|once|any|again|before|after|what|dev|pip)$|packages?$|dependenc)/;
/** Development tools that a project usually depends on. */
const PROJECT_TOOLS =
  /^(?:tsc|vitest|jest|eslint|prettier|biome|vite|webpack|playwright|cypress|mocha|nx|turbo|next|prisma|ruff|mypy|black|pytest|knip|tsx)$/;

/** Packages that a normalized sentence has its reader install or run. */
export const findPackages = (sentence: string): readonly NamedLiteral[] =>
  [...sentence.matchAll(INSTALL)].flatMap((match) => {
    const name = (match[1] ?? match[2] ?? '').replace(/[.,;:]+$/, '');
    if (NO_PACKAGE.test(name) || PROJECT_TOOLS.test(name)) return [];
    return [
      {
        what: 'a package to be installed',
        text: name,
        sentence,
        index: match.index,
        needs: 'proof' as const,
      },
    ];
  });

/** Commands and settings that can do harm, in code or in prose. The text is the code around it, or the rest of its clause. */
const findRisks = (sentence: string): readonly NamedLiteral[] =>
  RISKS.flatMap(([what, needs, pattern]) =>
    [...sentence.matchAll(pattern)].map(({ 0: match, index }) => {
      const at = index + (/^[\s`"'(|;&$]/.test(match) ? 1 : 0);
      return { what, needs, sentence, index: at, text: codeAround(sentence, at) };
    }),
  );

const CLAUSE_END = /[,;:]\s|\.\s|\.?$|\s(?:and|then|so|before|after|when|whenever|for|because)\s/;

function codeAround(sentence: string, index: number): string {
  const isCode = (sentence.slice(0, index).match(/`/g)?.length ?? 0) % 2 === 1;
  const from = isCode ? sentence.lastIndexOf('`', index - 1) + 1 : index;
  const to = isCode ? sentence.indexOf('`', index) : index + sentence.slice(index).search(CLAUSE_END);
  return sentence.slice(from, to < 0 ? undefined : to).trim();
}

const set = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/));
/** Programs that read, build, check or test. */
const ORDINARY = set(
  `ls cat head tail less grep rg ag fd wc sort uniq diff comm cut tr awk sed jq yq echo printf test pwd cd mkdir cp mv touch which
  type file stat du df tree xxd od date env export set basename dirname realpath sleep seq tee pytest tox mypy ruff black isort
  flake8 pylint tsc tsx eslint prettier biome vitest jest mocha vite webpack rollup esbuild playwright cypress nx turbo next knip
  make cmake ninja ctest meson bazel cargo rustc rustfmt go gofmt gcc g++ clang javac java mvn gradle gradlew dotnet php ruby rake
  rspec bundle rails mix elixir flutter dart swift stack cabal ghc zig sbt lein alembic python python3 node deno perl psql sqlite3
  mysql redis-cli tar gzip gunzip zip unzip shellcheck hadolint terraform helm kubectl docker docker-compose podman git npm pnpm
  yarn bun pip pip3 uv poetry pipenv composer gem prisma django-admin protoc`,
);
/** Subcommands that fetch, publish, install, or change what others have. */
const REACHING = set(
  `install add i get publish push login logout adduser config remote clone deploy apply destroy delete exec upload release global
  link unlink remove uninstall rm prune reset clean rebase dlx create init upgrade update import rollout scale drain cp attach run
  submodule replace patch edit annotate label taint proxy port-forward`,
);
const SUBCOMMANDS = set(
  'git npm pnpm yarn bun pip pip3 uv poetry pipenv composer gem cargo go docker podman docker-compose kubectl helm terraform dotnet bundle mix dart flutter prisma deno',
);
/** `npm run build` runs a script of the project; `docker run` runs anything. */
const SCRIPT_RUNNERS = set('npm pnpm yarn bun cargo go poetry pipenv uv dotnet dart flutter mix deno');
const PREFIXES = set('sudo time env exec nice command timeout npx bunx uvx');
const REACHING_FLAGS =
  /(?:^|\s)(?:--force|--global|-g|--privileged|--no-verify|--unsafe\S*|--trust\S*|--allow\S*|--disable\S*|--skip\S*|--no-\S*check\S*|--insecure|--yes|-y|--upload-file|--post-file)(?=\s|=|$)|[>]|\$\(|:\/\/|\w@\w+\.\w|(?:^|[\s=])(?:~\/|\/(?!dev\/null)\w)/;
const INTERPRETERS = set('python python3 node deno perl ruby php java bash sh');
const INLINE = /(?:^|\s)(?:-c|-e|--eval|-r)\s/;

/** Whether a command reads, builds, checks or tests, and nothing else, as far as its words tell. */
function isOrdinary(program: string, args: readonly string[]): boolean {
  if (!ORDINARY.has(program) || REACHING_FLAGS.test(` ${args.join(' ')} `)) return false;
  if (INTERPRETERS.has(program) && INLINE.test(` ${args.join(' ')} `)) return false;
  if (!SUBCOMMANDS.has(program)) return true;
  const [subcommand = '', ...names] = args.filter((arg) => !arg.startsWith('-'));
  // Without a name, what the project declares is installed.
  if (subcommand === 'install' || subcommand === 'i') return names.length === 0;
  return subcommand === 'run' ? SCRIPT_RUNNERS.has(program) : !REACHING.has(subcommand);
}

const CODE = /`([^`\n]{1,300})`/g;
const FENCE = /^\s{0,3}(?:```|~~~)\s*(\w*)/;
const SHELL_FENCE = /^(?:|sh|bash|zsh|shell|console|terminal|powershell|cmd)$/;
const ASKED_TO_RUN =
  /\b(?:run|execute|invoke|launch|start|call|type|enter|issue)(?:ning|ing|s)?\s*(?:the )?(?:command |script )?:?\s*$/;

/** The commands of a normalized lesson: code and shell blocks that begin with a program, and code that it tells to run. */
function findCommands(view: string): readonly NamedLiteral[] {
  const found = new Map<string, NamedLiteral>();
  const take = (code: string, sentence: string, index: number, isToBeRun: boolean): void => {
    for (const part of code.split(/\s*(?:&&|\|\||;|(?<!\|)\|(?!\|))\s*/)) {
      const text = part.replace(/^\$\s+/, '').trim();
      const words = text.split(/\s+/).filter((word) => !/^[a-z_]\w*=/.test(word));
      const at = words.findIndex((word) => !PREFIXES.has(word));
      const program = (words[at] ?? '').replace(/^\.?venv\/bin\//, '');
      const isPath =
        /^(?:\.{0,2}\/|~\/)?[\w@.-]+(?:\/[\w@.-]+)+$/.test(program) ||
        /\.(?:sh|bash|ps1|bat|cmd)$/.test(program);
      const isNamed = isToBeRun && /^[a-z][\w.-]*$/.test(program);
      if (!ORDINARY.has(program) && !isNamed && !(isPath && (isToBeRun || words.length > 1))) continue;
      // A program's name alone is no command.
      if (words.length < 2 && !isToBeRun) continue;
      const needs = isOrdinary(program, words.slice(at + 1)) ? 'free' : 'proof';
      found.set(text, { what: 'a command', text, sentence, index, needs });
    }
  };
  let fence: string | undefined;
  for (const line of view.split('\n')) {
    const mark = FENCE.exec(line);
    if (mark !== null) fence = fence === undefined ? (mark[1] ?? '') : undefined;
    else if (fence !== undefined) {
      if (SHELL_FENCE.test(fence)) take(line, line, 0, false);
    } else
      for (const match of line.matchAll(CODE))
        take(match[1] ?? '', line, match.index, ASKED_TO_RUN.test(line.slice(0, match.index)));
  }
  return [...found.values()];
}

/** Everything that a normalized lesson names letter by letter. */
export const findNamedLiterals = (view: string): readonly NamedLiteral[] => [
  ...splitFoldedSentences(view).flatMap((sentence) => [
    ...findAddresses(sentence),
    ...findRisks(sentence),
    ...findPackages(sentence),
  ]),
  ...findCommands(view),
];

/**
 * Who brought a literal of a lesson up.
 * `given`: a person or a verifier wrote it. `proven`: the agent ran it with success, and no outside text had named it before.
 * `tried`: the agent ran it, without success. `outside`: outside text named it first. `unknown`: nobody.
 */
type Provenance = 'given' | 'proven' | 'tried' | 'outside' | 'unknown';

export interface LiteralProvenance {
  /** Of an address, a package or another name. Outside text that had it before the agent did makes it outside, whatever that text says. */
  ofName(literal: string): Provenance;
  /** Of a command or an option: programs print their own names and options, so only outside text that asks for it counts. */
  ofCommand(literal: string): Provenance;
  /** Whether one message of a person or a verifier has all words of a command: in their order, or in any. */
  isTyped(literal: string, order: 'in order' | 'any'): boolean;
}

/**
 * Reads the sessions in order. A command that succeeded because outside text had told the agent to run it proves nothing: what
 * counts is who named it first.
 */
export function createLiteralProvenance(events: readonly SessionEvent[]): LiteralProvenance {
  const messages = events.flatMap(({ kind, lines }) => (kind === 'own' ? [lines.split('\n').join(' ')] : []));
  const find = (literal: string, isOutside: (lines: string, literal: string) => boolean): Provenance => {
    const wanted = flatten(foldText(literal));
    if (wanted === '') return 'unknown';
    let found: Provenance = 'unknown';
    for (const { kind, lines } of events) {
      if (!hasLiteral(lines, wanted)) continue;
      if (kind === 'own') return 'given';
      if (kind === 'agent') continue;
      if (kind === 'succeeded') {
        if (found !== 'outside') return 'proven';
      } else if (kind === 'failed') {
        if (found === 'unknown') found = 'tried';
      } else if (found === 'unknown' && isOutside(lines, wanted)) found = 'outside';
    }
    return found;
  };
  return {
    ofName: (literal) => find(literal, () => true),
    ofCommand: (literal) => find(literal, asksFor),
    isTyped: (literal, order) => {
      const words = flatten(foldText(literal))
        .split(' ')
        .map((word) => word.replace(/^[`"'(]+|[`"'),.;:]+$/g, ''))
        .filter((word) => word !== '');
      return words.length > 0 && messages.some((message) => hasWords(message, words, order === 'in order'));
    },
  };
}

/** Whether a text has all words; in order, each after the one before. */
function hasWords(text: string, words: readonly string[], isInOrder: boolean): boolean {
  let at = 0;
  for (const word of words) {
    const next = indexOfLiteral(text, word, isInOrder ? at : 0);
    if (next < 0) return false;
    at = next + word.length;
  }
  return true;
}

const isPart = (letter: string | undefined): boolean => letter !== undefined && /[\p{L}\p{N}_]/u.test(letter);

/** As a whole: `pad` is not in `left-pad`, and `npm test` is not in `npm tests`. */
function indexOfLiteral(flat: string, literal: string, from = 0): number {
  for (let at = flat.indexOf(literal, from); at >= 0; at = flat.indexOf(literal, at + 1)) {
    const before = flat[at - 1];
    const after = flat[at + literal.length];
    const isJoined =
      (isPart(before) && isPart(literal[0])) ||
      (isPart(after) && isPart(literal.at(-1))) ||
      (before === '-' && /[a-z0-9]/.test(literal[0] ?? '') && isPart(flat[at - 2]));
    if (!isJoined) return at;
  }
  return -1;
}

const hasLiteral = (flat: string, literal: string): boolean => indexOfLiteral(flat, literal) >= 0;

const asksFor = (lines: string, literal: string): boolean =>
  splitFoldedSentences(lines).some((sentence) => sentence.includes(literal) && givesInstruction(sentence));
