import { detectLanguages } from '../../text/languages.ts';
import { clip } from '../../text/truncate.ts';
import { findNamedLiterals, type LiteralProvenance, type NamedLiteral } from './lesson-literals.ts';
import { decodeLiteralViews, decodeViews, findHomoglyphs, foldText } from './normalize-text.ts';
import { findAddressOfAgents, findOverride } from './outside-statements.ts';
import { findRiskyActions } from './risky-actions.ts';
import { describeTopic, findTopics, isForbidden } from './risky-topics.ts';

const LONGEST_SHOWN = 80;

export interface LintContext {
  readonly provenance: LiteralProvenance;
  /** Text of people and verifiers, normalized. */
  readonly firstParty: readonly string[];
  /** Whether a normalized sentence only says what people or verifiers said. */
  readonly isTheirs: (sentence: string) => boolean;
  /** A model wrote it: a command that nobody typed or ran is its invention. */
  readonly isModelWritten?: boolean;
  /** What outside text said in these sessions, normalized: the statements that could have taught something, and all of it. */
  readonly outside: { readonly statements: readonly string[]; readonly texts: readonly string[] };
}

/**
 * Reasons, for a person, to review a lesson before it is used, each with the passage that raised it; empty when there are none.
 * A passage that sets other instructions aside must be a person's own. What a lesson names letter by letter must have been named by people or verifiers, or have worked here before outside text
 * named it. What it says about a risky topic is reported where outside text was read and no person spoke of it; topics of daily work
 * only where outside text speaks of them.
 */
export function lintLesson(name: string, words: string, context: LintContext): readonly string[] {
  const { firstParty, isTheirs, outside } = context;
  const asked = firstParty.join('\n');
  const why = new Set(findDisguises(words, asked));
  for (const view of decodeLiteralViews(words))
    for (const literal of findNamedLiterals(view)) {
      const reason = whyNotNamed(literal, context);
      if (reason !== undefined) why.add(reason);
    }
  for (const view of decodeViews(words)) {
    const override = findOverride(view);
    if (override !== undefined && !asked.includes(override))
      why.add(`it sets other instructions aside: ${clip(override, LONGEST_SHOWN)}`);
  }
  if (outside.texts.length === 0) return [...why];
  const topics = decodeViews(`${name.replaceAll('-', ' ')}\n${words}`).flatMap((view) =>
    findTopics(view, true),
  );
  // Most lessons have none: then nothing of what was said and read is looked through.
  if (topics.length === 0) return [...why];
  const [theirs, own] = [topicsOf(outside.statements), topicsOf(firstParty)];
  for (const topic of topics)
    if ((!topic.isDaily || theirs.has(topic.why)) && !own.has(topic.why) && !isTheirs(topic.sentence))
      why.add(describeTopic(topic));
  return [...why];
}

const topicsOf = (texts: readonly string[]): ReadonlySet<string> =>
  new Set(texts.flatMap((text) => findTopics(text, true).map(({ why }) => why)));

function whyNotNamed(
  { what, text, sentence, index, needs }: NamedLiteral,
  { provenance, isTheirs, isModelWritten = false }: LintContext,
): string | undefined {
  const from = what === 'a command' ? provenance.ofCommand(text) : provenance.ofName(text);
  if (from === 'given' || provenance.isTyped(text, isTheirs(sentence) ? 'any' : 'in order')) return undefined;
  const shown = clip(text, LONGEST_SHOWN);
  const isInvented = isModelWritten && what === 'a command' && from === 'unknown';
  if (needs === 'free' && from !== 'outside' && !isInvented) return undefined;
  if (needs !== 'free' && isForbidden(sentence, index)) return undefined;
  if (needs === 'proof' && from === 'proven') return undefined;
  if (from === 'outside') return `it names ${what} that outside text brought up: ${shown}`;
  return RUNS.test(what)
    ? `it runs a command that nobody in this session typed: ${shown} (${what})`
    : `it names ${what} that nobody in this session typed: ${shown}`;
}

/** As opposed to an address, a package or a setting. */
const RUNS = /^(?:a command|a pipe|code)/;

const MARKUP: readonly (readonly [why: string, pattern: RegExp])[] = [
  [
    'an image',
    /!\[[^\]\n]{0,200}\]\s?[([]\s?(?:\w+:)?\/\/[^)\]\n]{0,200}|<img\b[^>\n]{0,200}\/\/[^>\n]{0,200}/,
  ],
  ['a hidden comment', /<!--[^>\n]{0,200}|^\s{0,3}\[(?:\/\/|comment|#)\]\s?:[^\n]{0,200}/m],
  [
    'active HTML',
    /\]\(\s{0,3}<?\s{0,3}(?:javascript|data|vbscript)\s{0,3}:|<\/?(?:script|iframe|embed|object)\b[^>\n]{0,80}>/,
  ],
  [
    'markup that imitates another speaker',
    /<\|?(?:im_start|im_end|system|endoftext|eot_id|start_header_id)\|?>|\[\/?(?:inst|sys|system)\]|<<\/?sys>>|<\/?(?:system|system-reminder|system_prompt|tool_result|function_results?)\b[^<>\n]{0,80}>|<\/(?:instructions?|assistant|user|human|skills?|lessons?)>/,
  ],
  ['front matter', /^---[a-z]{0,10}\n/],
];

const FEWEST_DIGITS = 3;
/** Names and paths have shorter parts. */
const LONGEST_WORD = 24;
const BLOB = /[A-Za-z0-9+/_-]{32,}={0,2}/g;

/** What is hidden from people who read the text, or acts on a page: look-alike letters, encoded data, markup. */
function findDisguises(words: string, asked: string): readonly string[] {
  const found: string[] = [];
  const mixed = findHomoglyphs(words);
  if (mixed !== undefined)
    found.push(`it mixes look-alike letters of another script into words: ${clip(mixed, LONGEST_SHOWN)}`);
  for (const [run] of words.matchAll(BLOB))
    if (isEncoded(run) && !asked.includes(foldText(run))) {
      found.push(`it contains encoded data: ${clip(run, LONGEST_SHOWN)}`);
      break;
    }
  for (const view of decodeLiteralViews(words))
    for (const [what, pattern] of MARKUP) {
      const passage = pattern.exec(view)?.[0];
      if (passage !== undefined && !asked.includes(passage))
        found.push(`it contains ${what}: ${clip(passage.trim(), LONGEST_SHOWN)}`);
    }
  return found;
}

/** A long run of letters and digits that is no word or path: a key, a hash, encoded data. */
const isEncoded = (run: string): boolean =>
  (run.match(/\d/g)?.length ?? 0) >= FEWEST_DIGITS &&
  (/^[0-9a-f]+$/i.test(run) || (/[a-z]/.test(run) && /[A-Z]/.test(run))) &&
  run.split(/[-_/]/).some((part) => part.length >= LONGEST_WORD);

/**
 * Reasons for a person to read the words of a skill file before prompts may contain them, each with its passage; empty when
 * there are none. Files name commands, addresses and packages as daily work needs them, and nobody in a session has typed any of
 * them: here counts what no daily work needs. Code that is fetched and run at once, data that leaves the machine, protections
 * switched off, packages that imitate others, text that is hidden or asks for what harms people.
 */
export function lintSkillText(words: string): readonly string[] {
  const why = new Set(findDisguises(words, '').filter((reason) => !isPlain(reason)));
  for (const { why: reason } of findRiskyActions(words)) why.add(reason);
  const unread = [...detectLanguages(foldText(words))].find(([language]) => !READ.has(language));
  if (unread !== undefined)
    why.add(
      `it is in a language that the checks do not read: ${unread[0]}: ${clip(unread[1].trim(), LONGEST_SHOWN)}`,
    );
  return [...why];
}

/** A comment of an editor or a formatter, as opposed to one that speaks to whoever reads the source. */
const isPlain = (reason: string): boolean =>
  /active html: <|front matter|<\/(?:instructions?|assistant|user|human|skills?|lessons?)>/i.test(reason) ||
  (reason.includes('a hidden comment') &&
    findAddressOfAgents(reason) === undefined &&
    !/\b(?:run|execute|send|install|upload|append|ignore (?:all|the|previous)|forward|post)\b/.test(reason));

/** Languages whose words for risky topics are known. */
const READ: ReadonlySet<string> = new Set(
  'german french spanish portuguese italian dutch polish turkish han hangul cyrillic'.split(' '),
);
