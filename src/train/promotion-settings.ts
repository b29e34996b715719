export interface PromotionSettings {
  /** The error probability: that a checkpoint worse by more than the margin passes, or that an equal one is rolled back. */
  readonly alpha: number;
  /** By how much a checkpoint may be worse (scores are 0 to 1). */
  readonly margin: number;
  /** A checkpoint passes after `fewestPairs` at the earliest, and is rejected after `mostPairs` at the latest. */
  readonly fewestPairs: number;
  readonly mostPairs: number;
  /** The share of sessions that a canary serves, and how many of them must have been scored before it goes live. */
  readonly canaryShare: number;
  readonly canarySessions: number;
  /** Consecutive failed probes after which it is rolled back. */
  readonly failedProbes: number;
}

export const DEFAULT_PROMOTION: PromotionSettings = {
  alpha: 0.05,
  margin: 0.02,
  fewestPairs: 50,
  mostPairs: 1000,
  canaryShare: 0.1,
  canarySessions: 30,
  failedProbes: 2,
};
