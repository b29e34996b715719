import type { Seen } from './reward-guard.ts';
import type { Baselines } from './running-baseline.ts';
import type { Agreement } from './step-metrics.ts';

/** The numbers of one step. */
export interface StepReport {
  /** Rewards of the attempts; undefined when there were only live turns. */
  readonly seen: Seen | undefined;
  readonly groups: number;
  /** Groups whose attempts all had the same reward: they do not train. */
  readonly constantGroups: number;
  /** Trained attempts, and how many of them are live turns with a running mean as baseline. */
  readonly rollouts: number;
  readonly live: number;
  readonly data: number;
  /** Sequences that did not fit the engine's context. */
  readonly overlong: number;
  readonly updates: number;
  readonly learningRate: number;
  /** Agreement of sampler and trainer before the first update. Undefined when nothing was submitted. */
  readonly start?: Agreement;
  /** In the last pass: how far the weights have moved from the sampling ones. */
  readonly end?: Agreement;
  readonly gradNorm?: number;
  /** Conditions that did not stop the step. */
  readonly warnings: readonly string[];
  /** The agents' running means after this step; undefined without live turns. */
  readonly baselines?: Baselines;
}
