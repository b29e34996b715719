/**
 * How well a lesson fits a task, and from where on it is shown. All numbers that depend on the sentence model are here; `npm run
 * bench:recall -- --fit` finds them again on the dev split of our tasks.
 */
export interface RelevanceWeights {
  /** The similarity of a lesson: its best cue, its second best one, and its whole text. They sum to 1. */
  readonly best: number;
  readonly second: number;
  readonly whole: number;
  /** Log-odds for each unit of similarity, and of the keywords that a lesson shares with the task. */
  readonly similarity: number;
  readonly words: number;
  /** Log-odds against a lesson for what unrelated lessons have in common with the same task (see `Background`). */
  readonly commonSimilarity: number;
  readonly commonWords: number;
  /** The share of a task's similarity to idle requests that counts against all lessons. */
  readonly idle: number;
  /** What a lesson must exceed. */
  readonly threshold: number;
  /** From this evidence on a lesson is listed by its line. */
  readonly listed: number;
  /** What the best lesson must have for any line: without one that comes near, the task is about nothing here. */
  readonly near: number;
  /** How far these floors sink where fewer lessons are in scope than there is room for lines: then a line costs little. */
  readonly fewer: number;
  /** Beside a much better lesson another body is dropped: it must come as near as this to the best, or have half of it. */
  readonly nearBest: number;
  /** What a further body needs where the best lesson has enough: the task is about something here, though not about which. */
  readonly beside: number;
}

/** Where the sentence model has read the task. */
export const RELEVANCE: RelevanceWeights = {
  best: 0.6,
  second: 0.2,
  whole: 0.2,
  similarity: 10,
  words: 1.8,
  commonSimilarity: 0,
  commonWords: 1.5,
  idle: 0.8,
  threshold: 2.4,
  listed: -3,
  near: -1.1,
  fewer: 4,
  nearBest: 2,
  beside: -1,
};

/** At a first look: the task by the static table. */
export const FIRST_LOOK: RelevanceWeights = {
  best: 0.58,
  second: 0.2,
  whole: 0.22,
  similarity: 10,
  words: 0.77,
  commonSimilarity: -2.68,
  commonWords: 0.1,
  idle: 1.52,
  threshold: 2.09,
  listed: -3,
  near: -1.1,
  fewer: 4,
  nearBest: 1.51,
  beside: -1.16,
};

/**
 * The evidence of the best lesson between which a first look is in doubt, and the model looks again. Of 36 requests around tasks of the
 * dev split for which the model shows a right body that the first look does not, 34 lie here; of unrelated tasks half.
 */
export const IN_DOUBT = { from: -2, to: 3 } as const;

/** Weights for what lessons carry besides their words. They do not depend on the sentence model and are not fitted. */
export const NOTE_WEIGHTS = {
  /** Log-odds for confidence and importance, from 0 to 1 each: they decide only between nearly equal lessons. */
  confidence: 0.2,
  importance: 0.1,
} as const;

/**
 * The score of lessons that are not meant for the task, estimated by its fourth best score. Relevant lessons stand out from
 * it; a task that matches a whole topic equally well is not about any of its lessons.
 */
export interface Background {
  readonly similarity: number;
  readonly words: number;
  /** The task's similarity to what people ask that needs no lesson (see `IDLE_REQUESTS`). */
  readonly idle: number;
}

/** For libraries with fewer lessons. */
export const USUAL_BACKGROUND: Background = { similarity: 0.2, words: 0.3, idle: 0.25 };
/** In a large library some unrelated lesson is always near; it must not hide a nearer one. */
const MOST_BACKGROUND = 0.35;

/**
 * The evidence for a lesson as log-odds: from 0 on its body may be shown. Keywords count by their sum, not by their share: two
 * rare names in a long message are enough, whether or not the embedding agrees. Rank fusion would let one side spoil what
 * the other is sure of.
 */
export function createEvidence(
  weights: RelevanceWeights,
  background: Background,
): (similarity: number, words: number) => number {
  const wordsAlone = -4.4 * background.words - 3.4;
  const withSimilarity =
    -weights.commonSimilarity * Math.min(background.similarity, MOST_BACKGROUND) -
    weights.commonWords * background.words -
    weights.similarity * weights.idle * background.idle -
    weights.threshold;
  return (similarity, words) => {
    const byWords = 5 * words + wordsAlone;
    if (similarity === 0) return byWords;
    const byBoth = weights.similarity * similarity + weights.words * words + withSimilarity;
    return byBoth > byWords ? byBoth : byWords;
  };
}

/** Evidence as a number from 0 to 1; 0.5 is enough for a body. */
export const relevanceOf = (evidence: number): number => 1 / (1 + Math.exp(-evidence));
