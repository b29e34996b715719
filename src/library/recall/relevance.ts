import { createBestOf } from './best-of.ts';
import type { Scan } from './scan.ts';
import { STANDING } from './standings.ts';

/**
 * How well a task fits lessons that are not meant for it: its fourth best score. What stands out from that is meant; a
 * task that fits a whole field equally well asks for none of its lessons.
 */
export interface Background {
  readonly meaning: number;
  readonly spelling: number;
  readonly words: number;
}

/** Whose score is the background: up to three lessons may say the same and still stand out. */
const RANK = 4;
/** For libraries with fewer lessons than that. */
const USUAL: Background = { meaning: 0.2, spelling: 0.15, words: 0.3 };
/** In a large library some stranger is always near; that must not hide what is nearer. */
const MOST_BACKGROUND = 0.35;

export function backgroundOf(found: Scan, standings: Uint8Array): Background {
  const { meaning, spelling, words } = found;
  return {
    meaning: (meaning && ranked(meaning, standings)) ?? USUAL.meaning,
    spelling: (spelling && ranked(spelling, standings)) ?? USUAL.spelling,
    words: ranked(words, standings) ?? USUAL.words,
  };
}

/** The score at that rank among the lessons that may be shown; undefined when they are fewer. */
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
 * What speaks for a lesson and what against it, in one number: 0 is just enough. Words count by their sum, not their
 * share: two rare names in a long message say enough, with or without a meaning that agrees. A sum of ranks would let
 * each side spoil what the other is sure of. The numbers were fitted to the dev part of `bench/recall` and rounded.
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

/** Evidence as 0 to 1, with 0.5 for what is just enough. */
export const relevanceOf = (evidence: number): number => 1 / (1 + Math.exp(-evidence));
