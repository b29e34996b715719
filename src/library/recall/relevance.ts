import { createBestOf } from './best-of.ts';
import type { Scan } from './scan.ts';
import { STANDING } from './standings.ts';

/**
 * The score of lessons that are not meant for the task, estimated by its fourth best score. Relevant lessons stand out from
 * it; a task that matches a whole topic equally well is not about any of its lessons.
 */
export interface Background {
  readonly meaning: number;
  readonly spelling: number;
  readonly words: number;
}

/** The rank of the background score: up to three similar lessons can still stand out. */
const RANK = 4;
/** For libraries with fewer lessons. */
const USUAL: Background = { meaning: 0.2, spelling: 0.15, words: 0.3 };
/** In a large library some unrelated lesson is always near; it must not hide a nearer one. */
const MOST_BACKGROUND = 0.35;

export function backgroundOf(found: Scan, standings: Uint8Array): Background {
  const { meaning, spelling, words } = found;
  return {
    meaning: (meaning && ranked(meaning, standings)) ?? USUAL.meaning,
    spelling: (spelling && ranked(spelling, standings)) ?? USUAL.spelling,
    words: ranked(words, standings) ?? USUAL.words,
  };
}

/** The score at the rank RANK among the lessons that may be shown; undefined when there are fewer. */
function ranked(scores: Float32Array, standings: Uint8Array): number | undefined {
  const best = createBestOf(RANK);
  let bar = best.bar;
  for (let slot = 0; slot < scores.length; slot++) {
    const score = scores[slot] ?? 0;
    if (score <= bar) continue;
    if (standings[slot] !== STANDING.open && standings[slot] !== STANDING.due) continue;
    best.offer(slot, score);
    bar = best.bar;
  }
  return best.isFull ? best.bar : undefined;
}

/**
 * The evidence for a lesson as log-odds: from 0 on it may be shown. Keywords count by their sum, not by their share: two
 * rare names in a long message are enough, whether or not the embedding agrees. Rank fusion would let one side spoil what
 * the other is sure of. The coefficients were fitted to the dev split of `bench/recall` and rounded.
 */
export function evidenceFor(found: Scan, background: Background): (slot: number) => number {
  const { meaning, spelling, words } = found;
  const wordsAlone = -4.4 * background.words - 3.4;
  const withSpelling = wordsAlone - 1.5 * background.spelling;
  const withMeaning = -7.5 * Math.min(background.meaning, MOST_BACKGROUND) - 2 * background.words - 4.5;
  return (slot) => {
    const word = words[slot] ?? 0;
    const cosine = meaning === undefined ? 0 : (meaning[slot] ?? 0);
    if (cosine === 0) return 5 * word + 2.5 * (spelling?.[slot] ?? 0) + withSpelling;
    const byBoth = 14 * cosine + 2.7 * word + withMeaning;
    const byWords = 5 * word + wordsAlone;
    return byBoth > byWords ? byBoth : byWords;
  };
}

/** Evidence as a number from 0 to 1; 0.5 is the threshold. */
export const relevanceOf = (evidence: number): number => 1 / (1 + Math.exp(-evidence));
