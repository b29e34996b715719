import type { Seen } from './reward-guard.ts';
import type { Baselines } from './running-baseline.ts';
import type { Agreement } from './step-metrics.ts';

/** What one step did, in numbers. */
export interface StepReport {
  /** How the attempts went; undefined where there were none but live turns. */
  readonly seen: Seen | undefined;
  readonly groups: number;
  /** Groups whose attempts were all as good, and which trained nothing. */
  readonly constantGroups: number;
  /** Attempts that trained, and how many of them were held against a running mean. */
  readonly rollouts: number;
  readonly live: number;
  readonly data: number;
  /** Sequences that did not fit the engine's context. */
  readonly overlong: number;
  readonly updates: number;
  readonly learningRate: number;
  /** Before the first update: what sampler and trainer make of the same tokens. Undefined when nothing was submitted. */
  readonly start?: Agreement;
  /** In the last pass: how far the weights have moved from those that sampled. */
  readonly end?: Agreement;
  readonly gradNorm?: number;
  /** Known only to someone who looks: nothing stopped. */
  readonly warnings: readonly string[];
  /** What agents usually get, as it is now; undefined when no live turn was given. */
  readonly baselines?: Baselines;
}
