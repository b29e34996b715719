export interface PromotionSettings {
  /** How often a checkpoint that is worse by more than the margin may pass, and one that is as good be turned back. */
  readonly alpha: number;
  /** What a checkpoint may be worse by, of 1. */
  readonly margin: number;
  /** Pairs without which nothing is decided in its favour, and after which it has failed to show it. */
  readonly fewestPairs: number;
  readonly mostPairs: number;
  /** Of sessions, while it is a canary; and how many of its own must have gone well enough. */
  readonly canaryShare: number;
  readonly canarySessions: number;
  /** Failed probes in a row that turn it back. */
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
