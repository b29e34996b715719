import { splitFoldedSentences } from '../../text/sentences.ts';
import { topicStems } from '../../text/topic-words.ts';
import { foldedWords, foldText, matchingRuns, wordRuns } from './normalize-text.ts';
import { givesInstruction, isProse, isReport, isStandingRule } from './outside-statements.ts';

/** This many words in the same order are no coincidence. */
const RUN = 8;

/** Finds a run of words that the lesson shares with an untrusted text and with no trusted one. */
type RunFinder = (folded: string) => string | undefined;

/** `words`: the lesson; `trusted`: text that it may repeat. Both normalized. */
export function createRunFinder(words: string, trusted: readonly string[]): RunFinder {
  const runs = without(wordRuns(foldedWords(words), RUN), trusted, RUN);
  return (folded) => [...matchingRuns(runs, foldedWords(folded), RUN)][0];
}

function without(runs: ReadonlySet<string>, trusted: readonly string[], length: number): ReadonlySet<string> {
  const left = new Set(runs);
  for (const text of trusted)
    for (const run of matchingRuns(left, foldedWords(text), length)) left.delete(run);
  return left;
}

const SHORTEST = 12;
const FEWEST_QUOTED = 5;
const CODE = /`([^`\n]{3,400})`/g;
const QUOTED = /"([^"\n]{8,400})"/g;
const FENCE = /^\s{0,3}(?:```|~~~)/;
/** Words with punctuation inside, as no sentence has. */
const SIGNED = /^[\w@~$%\\/.:=+#*-]{12,300}$/;
/** A file that runs: however short its name is, a lesson that names it may have it run. */
const RUNS =
  /^[\w@.~$\\/-]{0,120}\w\.(?:sh|bash|zsh|fish|ps1|psm1|bat|cmd|vbs|exe|msi|scr|com|pkg|deb|rpm|run|bin|dmg|appimage|apk|jar|dll|so|dylib)$/;
const PATH = /^(?:[\w@.~$-]{1,80})?(?:[\\/][\w@.~$-]{1,80}){1,20}$/;
/** Files of most projects: their names do not show where a sentence comes from. */
const COMMON =
  /^(?:package(?:-lock)?\.json|requirements\.txt|tsconfig\.json|pyproject\.toml|docker-compose\.ya?ml|cargo\.(?:toml|lock)|node_modules|changelog\.md|contributing\.md|readme\.md|\.gitignore|gradle\.properties|build\.gradle|pnpm-lock\.yaml|__init__\.py|conftest\.py|index\.(?:html|[jt]sx?)|main\.(?:py|go|rs|[jt]s)|settings\.py|setup\.(?:py|cfg)|vite\.config\.[jt]s|go\.(?:mod|sum))$/;

/** The literals of a normalized lesson: paths, commands, code, quotations. */
function literalsOf(words: string): readonly string[] {
  const found = new Set<string>();
  let isFenced = false;
  for (const line of words.split('\n')) {
    if (FENCE.test(line)) isFenced = !isFenced;
    else if (isFenced && line.trim().length >= SHORTEST) found.add(line.trim());
  }
  for (const [, code = ''] of words.matchAll(CODE))
    if (code.trim().length >= SHORTEST) found.add(code.trim());
  for (const [, quoted = ''] of words.matchAll(QUOTED))
    if (foldedWords(quoted).length >= FEWEST_QUOTED) found.add(quoted.trim());
  for (const word of words.split(/[\s`"'()[\]{}<>,;!?]+/)) {
    const bare = word.replace(/^[.:*]+|[.:*]+$/g, '');
    if (RUNS.test(bare) || (SIGNED.test(bare) && isSigned(bare))) found.add(bare);
  }
  return [...found].filter((literal) => !COMMON.test(literal));
}

/** A path, or a name with punctuation or digits between its letters; two words joined by a hyphen or a slash are English. */
const isSigned = (word: string): boolean =>
  /\w[\\/]\w[\w.~$-]*[\\/.]|^[~/\\]|\w[_=@$%#+]\w|\w\.\w|\w::?\w|[a-z]\d[a-z]|-{2}\w/.test(word);

/**
 * Finds literals of a lesson that occur in untrusted text only. `isOwn`: the agent used it before outside text named it. A relative path counts as trusted when its last segment
 * is: error digests keep no more of it.
 */
export function createLiteralFinder(
  words: string,
  trusted: readonly string[],
  isOwn: (literal: string) => boolean,
): (folded: string) => string | undefined {
  const said = flat(trusted.join('\n'));
  const open = literalsOf(words).filter((literal) => {
    if (isOwn(literal)) return false;
    const base = PATH.test(literal) && !/^[/~\\]/.test(literal) ? literal.split(/[\\/]/).at(-1) : undefined;
    return !said.includes(flat(literal)) && !(base && base.length > 3 && said.includes(base));
  });
  return (folded) => {
    if (open.length === 0) return undefined;
    const text = flat(folded);
    return open.find((literal) => text.includes(flat(literal)));
  };
}

const flat = (text: string): string => foldText(text).split(/\s+/).join(' ');

/** Words written like a name: `AcmePay`, `left-pad-x` in code, `@acme/pay`, a capital inside a sentence. */
const CAMEL = /\b\p{Lu}?\p{Ll}+\p{Lu}[\p{L}\p{N}]*\b/gu;
const INSIDE = /(?<=[\p{Ll}\p{N},;] )\p{Lu}\p{Ll}{2,}\b/gu;
const CODE_NAME = /`(@?[a-z0-9][\w.-]{2,60}(?:\/[\w.-]{1,60})?)`/gi;

/**
 * Finds names of a lesson that occur in untrusted text only: on a page any of them, elsewhere those in a request. Injected
 * advertising and malicious packages work through names.
 */
export function createNameFinder(
  text: string,
  trusted: readonly string[],
): (folded: string, isPage: boolean) => string | undefined {
  const known = new Set(trusted.flatMap((said) => foldedWords(said)));
  const said = trusted.join('\n');
  const names = new Set(
    [CAMEL, INSIDE, CODE_NAME]
      .flatMap((pattern) => [...text.matchAll(pattern)].map((match) => foldText(match[1] ?? match[0])))
      .filter((name) => !said.includes(name) && !foldedWords(name).every((token) => known.has(token))),
  );
  return (folded, isPage) => {
    if (names.size === 0) return undefined;
    for (const sentence of splitFoldedSentences(folded)) {
      const found = [...names].find((name) => sentence.includes(name));
      if (found !== undefined && (isPage || givesInstruction(sentence))) return found;
    }
    return undefined;
  };
}

/** How many stems, and which share of them, two sentences must have in common. */
interface Bar {
  readonly fewest: number;
  readonly share: number;
}
const FOR_STANDING: Bar = { fewest: 2, share: 0.34 };
const FOR_ASKING: Bar = { fewest: 3, share: 0.5 };
const FOR_PROSE: Bar = { fewest: 3, share: 0.5 };
const FOR_ANYTHING: Bar = { fewest: 4, share: 0.6 };
/** Enough common stems for a sentence of any length. */
const ENOUGH = 7;

type MeaningFinder = (folded: string) => string | undefined;

/**
 * Finds a sentence of untrusted text that the lesson repeats in any order and inflection of its words. The threshold is lower
 * for sentences that request something. Words that people, verifiers or digests used as well do not count. Of reports
 * of what went wrong a lesson may use more.
 */
export function createMeaningFinder(words: string, trusted: readonly string[]): MeaningFinder {
  const known = topicStems(trusted.join('\n'));
  const lines = splitFoldedSentences(words).map(stemsOf);
  const all = new Set(lines.flatMap((stems) => [...stems]));
  const linesOf = new Map<string, number[]>();
  for (const [index, stems] of lines.entries())
    for (const stem of stems) linesOf.set(stem, [...(linesOf.get(stem) ?? []), index]);

  return (folded) =>
    splitFoldedSentences(folded).find((sentence) => {
      const fresh = [...stemsOf(sentence)].filter((stem) => !known.has(stem));
      const shared = fresh.filter((stem) => all.has(stem));
      if (shared.length < FOR_STANDING.fewest) return false;
      const bar = isStandingRule(sentence)
        ? FOR_STANDING
        : givesInstruction(sentence)
          ? FOR_ASKING
          : undefined;
      if (bar !== undefined && (passes(bar, shared.length, fresh.length) || shared.length >= ENOUGH))
        return true;
      const hits = new Map<number, number>();
      for (const stem of shared)
        for (const line of linesOf.get(stem) ?? []) hits.set(line, (hits.get(line) ?? 0) + 1);
      const isWritten = !isReport(sentence) && isProse(sentence);
      return [...hits].some(([line, count]) => {
        const size = lines[line]?.size ?? 0;
        return (
          passes(FOR_ANYTHING, count, size) ||
          (isWritten && passes(FOR_PROSE, count, Math.min(size, fresh.length)))
        );
      });
    });
}

/** Without paths and dotted names: literals are compared separately. */
const stemsOf = (sentence: string): ReadonlySet<string> =>
  topicStems(
    sentence
      .split(/\s+/)
      .filter((part) => !/\w[/\\._]\w/.test(part))
      .join(' '),
  );

const passes = ({ fewest, share }: Bar, count: number, of: number): boolean =>
  count >= fewest && count >= of * share;
