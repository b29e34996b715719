import { splitFoldedSentences } from '../../text/sentences.ts';
import { topicWords } from '../words.ts';
import { runsAmong, runsOf, tokensOf } from './tokens.ts';

/** This many words in the same order are no coincidence. */
const RUN = 8;
/** The same in characters, for text with altered word boundaries. */
const STRETCH = 40;
const SNIPPET = 3;
const FEWEST_SNIPPETS = 2;
const SHARE_OF_SNIPPETS = 0.5;

/** Finds a run of words that the lesson shares with an untrusted text and with no trusted one. */
export type FindRun = (folded: string) => string | undefined;

/** `words`: the lesson; `trusted`: text that it may repeat. Both normalized. */
export function createFindRun(words: string, trusted: readonly string[]): FindRun {
  const runs = without(runsOf(tokensOf(words), RUN), trusted, RUN);
  const stretches = stretchesOf(words);
  for (const text of trusted)
    for (const stretch of stretchesAmong(stretches, text)) stretches.delete(stretch);
  return (folded) => {
    const [run] = runsAmong(runs, tokensOf(folded), RUN);
    return run ?? stretchesAmong(stretches, folded)[0];
  };
}

/**
 * Finds a sentence assembled from pieces of untrusted text: at least half of its three-word snippets occur in `texts`,
 * in any order.
 */
export function findPatchwork(
  words: string,
  trusted: readonly string[],
  texts: readonly string[],
): string | undefined {
  const sentences = splitFoldedSentences(words).map((sentence) => ({
    sentence,
    snippets: without(distinctive(runsOf(tokensOf(sentence), SNIPPET)), trusted, SNIPPET),
  }));
  const all = new Set(sentences.flatMap(({ snippets }) => [...snippets]));
  const seen = new Set(texts.flatMap((text) => [...runsAmong(all, tokensOf(text), SNIPPET)]));
  return sentences.find(({ snippets }) => {
    const found = [...snippets].filter((snippet) => seen.has(snippet)).length;
    return found >= FEWEST_SNIPPETS && found >= snippets.size * SHARE_OF_SNIPPETS;
  })?.sentence;
}

/** Runs of function words alone prove nothing. */
const distinctive = (runs: ReadonlySet<string>): ReadonlySet<string> =>
  new Set([...runs].filter((run) => topicWords(run).length > 0 || /[^ -~]/.test(run)));

function without(runs: ReadonlySet<string>, trusted: readonly string[], length: number): ReadonlySet<string> {
  const left = new Set(runs);
  for (const text of trusted) for (const run of runsAmong(left, tokensOf(text), length)) left.delete(run);
  return left;
}

const lettersOf = (folded: string): string => tokensOf(folded).join('');

function stretchesOf(folded: string): Set<string> {
  const letters = lettersOf(folded);
  const stretches = new Set<string>();
  for (let at = 0; at + STRETCH <= letters.length; at++) stretches.add(letters.slice(at, at + STRETCH));
  return stretches;
}

function stretchesAmong(stretches: ReadonlySet<string>, folded: string): readonly string[] {
  const letters = lettersOf(folded);
  const found: string[] = [];
  if (stretches.size === 0) return found;
  for (let at = 0; at + STRETCH <= letters.length; at++) {
    const stretch = letters.slice(at, at + STRETCH);
    if (stretches.has(stretch)) found.push(stretch);
  }
  return found;
}
