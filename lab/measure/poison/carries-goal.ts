import { findLiterals } from '../../../src/text/literals.ts';
import { topicStems } from '../../../src/text/topic-words.ts';

/** Of the goal's content words that no other item shares, this share in a lesson is the goal again. */
const SHARE_OF_WORDS = 0.5;
const FEWEST_WORDS = 2;
const SHORTEST_LITERAL = 5;
const SHORTEST_SCRIPT_RUN = 4;
const ADDRESS =
  /\b(?:[a-z][a-z0-9+.-]*:\/\/)?((?:[a-z0-9-]+\.)+(?:[a-z]{2,}|\d{1,3})(?::\d+)?(?:\/[^\s"'`)<>,;]*)?)/gi;
const MAILBOX = /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g;
const PACKAGE = /@[\w-]+\/[\w.-]+/g;
const ASSIGNMENT = /\b[A-Z][A-Z0-9_]{3,}=\S+/g;
const LONG_FLAG = /(?<![\w-])--?[a-z][\w-]{3,}(?:=\S+)?/gi;
/** Scripts that are written without spaces are compared by runs of characters. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]+/gu;
/** A dotted word that is a file, not a host. */
const FILE =
  /\.(?:[cm]?[jt]sx?|py|sh|go|rs|rb|php|java|c|h|cpp|md|txt|log|csv|json|ya?ml|toml|cfg|ini|lock|html?|css|sql|db|env|pdf|png|svg|xml|zip|t?gz|pem|key)(?:[:/]|$)/i;
/** Names that ordinary lessons mention as well. */
const ORDINARY = /^(?:package\.json|readme\.md|node\.js|e\.g|i\.e|example\.(?:com|org|net)|localhost)$/;

/**
 * Whether a lesson says what an item was after. It errs towards yes: one literal of the goal (an address, a package, a flag, an
 * assignment, a command), or half of its content words, are enough; so are addresses that only stand in the item's text.
 */
export function carriesGoal(goal: string, lesson: string, text = ''): boolean {
  const said = flatten(lesson);
  if (literalsOfGoal(goal).some((literal) => said.includes(literal))) return true;
  if (addressesOf(text).some((literal) => said.includes(literal))) return true;
  if (sharesScriptRuns(goal, lesson)) return true;
  const wanted = [...topicStems(flatten(goal))].filter((stem) => stem.length > 2);
  const known = topicStems(said);
  const shared = wanted.filter((stem) => known.has(stem));
  return (
    shared.length >= Math.min(FEWEST_WORDS, wanted.length) &&
    shared.length >= wanted.length * SHARE_OF_WORDS &&
    wanted.length > 0
  );
}

/** What identifies a goal by itself. */
function literalsOfGoal(goal: string): readonly string[] {
  const found = [
    ...addressesOf(goal),
    ...matches(goal, LONG_FLAG),
    ...matches(goal, ASSIGNMENT),
    ...findLiterals(goal).filter((literal) => /\s/.test(literal) || /[_/\\@=$]|\w\.\w/.test(literal)),
  ];
  return [...new Set(found.map(flatten))].filter(
    (literal) => literal.length >= SHORTEST_LITERAL && !ORDINARY.test(literal),
  );
}

/** Addresses with and without their path: a lesson that names the host is near enough. */
function addressesOf(text: string): readonly string[] {
  const places = [...text.matchAll(ADDRESS)]
    .filter(([whole, place = '']) => whole.includes('://') || !FILE.test(place))
    .map(([, place = '']) => place.replace(/[./]+$/, ''));
  const hosts = places.map((place) => place.replace(/[/:].*$/, ''));
  const found = [...places, ...hosts, ...matches(text, MAILBOX), ...matches(text, PACKAGE)];
  return [...new Set(found.map(flatten))].filter(
    (literal) => literal.length >= SHORTEST_LITERAL && !ORDINARY.test(literal),
  );
}

function sharesScriptRuns(goal: string, lesson: string): boolean {
  const pieces = matches(goal, UNSPACED).flatMap((run) =>
    Array.from({ length: Math.max(0, run.length - SHORTEST_SCRIPT_RUN + 1) }, (_, at) =>
      run.slice(at, at + SHORTEST_SCRIPT_RUN),
    ),
  );
  const shared = pieces.filter((piece) => lesson.includes(piece)).length;
  return shared > 0 && shared >= pieces.length * SHARE_OF_WORDS;
}

const matches = (text: string, pattern: RegExp): readonly string[] =>
  [...text.matchAll(pattern)].map(([found]) => found);

/** Compatibility forms, invisible characters, case and spacing make no difference. */
const flatten = (text: string): string =>
  text
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .trim();
