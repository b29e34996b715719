import type { TrainingEngine } from '../core/training.ts';
import type { RateSchedule } from './learning-rate.ts';
import type { Served } from './policy-pointer.ts';
import type { Refusal } from './refusal.ts';
import type { GuardSettings } from './reward-guard.ts';
import type { Rollout } from './rollout.ts';
import type { LiveTurn } from './running-baseline.ts';
import type { Checkpoint, RunJournal } from './step-journal.ts';
import type { StepReport } from './step-report.ts';
import type { StepSettings } from './train-step.ts';

/**
 * So many attempts at a task by a policy, each stamped with its version. For the same `seed` and weights the same attempts
 * under the same ids, if the engine can do that: a group that was interrupted is asked for again.
 */
export type RollOut<Task> = (
  policy: Served,
  task: Task,
  count: number,
  context: { readonly seed: string; readonly signal: AbortSignal },
) => Promise<readonly Rollout[]>;

/** What a step may learn from besides groups: turns of this generation, by one of these versions. */
export interface LiveWanted {
  readonly generation: number;
  readonly versions: readonly number[];
  /** Those that this run has learned from before, among others: they must not come again. */
  readonly trained: ReadonlySet<string>;
  readonly most: number;
}

export interface TrainInput<Task> {
  readonly engine: TrainingEngine;
  /** Of the run: the same through all its windows. */
  readonly run: string;
  readonly tasks: readonly Task[];
  readonly rollouts: RollOut<Task>;
  /** Batches of the whole run, whatever becomes of each. */
  readonly steps: number;
  readonly batch: {
    readonly groups: number;
    readonly size: number;
    /** Groups that are sampled side by side; 1 unless told. */
    readonly atOnce?: number;
  };
  /** The generation in force, asked before every step. */
  readonly generation: () => number | Promise<number>;
  /**
   * Single turns of live traffic, asked for before every step; none unless given. What it answers with is not journalled: a step
   * that is tried again may find others.
   */
  readonly live?: (wanted: LiveWanted) => Promise<readonly LiveTurn[]>;
  readonly journal: RunJournal;
  readonly signal: AbortSignal;
  readonly rank: number;
  readonly seed?: number;
  /** What a run that has not begun begins with: a new adapter unless told. */
  readonly from?: Checkpoint;
  /** Of a new adapter; 0 unless told. */
  readonly firstVersion?: number;
  /** The engine's own unless told. */
  readonly learningRate?: number;
  readonly schedule?: RateSchedule;
  readonly settings?: Partial<StepSettings>;
  readonly guard?: GuardSettings;
}

/** What happened. The last is `done`, `paused` or `stuck`. */
export type TrainProgress =
  | {
      readonly type: 'group-collected';
      readonly batch: string;
      readonly slot: number;
      readonly reward: number;
    }
  | {
      readonly type: 'group-refused';
      readonly batch: string;
      readonly slot: number;
      readonly refusal: Refusal;
    }
  | {
      readonly type: 'step-trained';
      readonly batch: string;
      readonly checkpoint: Checkpoint;
      readonly report: StepReport;
    }
  | { readonly type: 'step-idle'; readonly batch: string; readonly report: StepReport }
  | { readonly type: 'step-refused'; readonly batch: string; readonly refusal: Refusal }
  | { readonly type: 'step-failed'; readonly batch: string; readonly why: string }
  | { readonly type: 'rolled-back'; readonly batch: string; readonly to: Checkpoint; readonly rate: number }
  | { readonly type: 'paused'; readonly batch: string }
  /** `checkpoint`: the best there is; undefined when there is none. */
  | {
      readonly type: 'stuck';
      readonly why: string;
      readonly isRetryable: boolean;
      readonly checkpoint: Checkpoint | undefined;
    }
  | { readonly type: 'done'; readonly checkpoint: Checkpoint };
