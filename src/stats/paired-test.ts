import { evidenceAbove, evidenceBelow, lowerBound } from './confidence-sequence.ts';
import type { Interval } from './interval.ts';
import type { MomentSums } from './moments.ts';

/** Differences of two grades of 0 to 1. */
const DIFFERENCES: Interval = { low: -1, high: 1 };

/**
 * The sequential test of paired differences of a checkpoint: the new weights and those that
 * serve. Both numbers are logarithms of e-values, valid after every pair, however often they are looked at.
 */
interface PairedEvidence {
  /** Against "the mean difference is at most `bound`". */
  readonly better: number;
  /** Against "the mean difference is at least `bound`". */
  readonly worse: number;
}

/**
 * A bettor stakes a share of its wealth on each pair, at odds that are fair when the mean difference is `bound`; a mixture of
 * thirteen shares needs no guess of the effect (`stats/confidence-sequence`). Pairs must be drawn so that the mean difference given
 * all earlier pairs is the effect: tasks drawn at random from one pool, fresh seeds for each pair.
 */
export const pairedEvidence = (differences: MomentSums, bound = 0): PairedEvidence => ({
  better: evidenceAbove(differences, bound, DIFFERENCES),
  worse: evidenceBelow(differences, bound, DIFFERENCES),
});

/** A one-sided confidence sequence: the least that the mean difference can be. */
export const pairedLowerBound = (differences: MomentSums, alpha: number): number =>
  lowerBound(differences, { alpha, range: DIFFERENCES });
