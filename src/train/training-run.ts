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
 * Makes `count` attempts at a task by a policy, each stamped with its version. The same `seed` and weights give the same
 * attempts under the same ids if the engine is deterministic: an interrupted group is requested again.
 */
export type RollOut<Task> = (
  policy: Served,
  task: Task,
  count: number,
  context: { readonly seed: string; readonly signal: AbortSignal },
) => Promise<readonly Rollout[]>;

/** Which live turns a step may use: of this generation, by one of these versions. */
export interface LiveWanted {
  readonly generation: number;
  readonly versions: readonly number[];
  /** Rollouts that this run was already trained on: they must not be returned again. */
  readonly trained: ReadonlySet<string>;
  readonly most: number;
}

export interface TrainInput<Task> {
  readonly engine: TrainingEngine;
  /** The run's name, the same in all its windows. */
  readonly run: string;
  readonly tasks: readonly Task[];
  readonly rollouts: RollOut<Task>;
  /** Batches of the whole run, whatever their outcome. */
  readonly steps: number;
  readonly batch: {
    readonly groups: number;
    readonly size: number;
    /** Groups that are sampled in parallel; 1 by default. */
    readonly atOnce?: number;
  };
  /** The generation in force, read before every step. */
  readonly generation: () => number | Promise<number>;
  /** Live turns to use besides groups, read before every step; none by default. They are not journaled: a repeated step may get others. */
  readonly live?: (wanted: LiveWanted) => Promise<readonly LiveTurn[]>;
  readonly journal: RunJournal;
  readonly signal: AbortSignal;
  readonly rank: number;
  readonly seed?: number;
  /** The first checkpoint of a new run; a new adapter by default. */
  readonly from?: Checkpoint;
  /** The version of a new adapter; 0 by default. */
  readonly firstVersion?: number;
  /** The engine's default if not given. */
  readonly learningRate?: number;
  readonly schedule?: RateSchedule;
  readonly settings?: Partial<StepSettings>;
  readonly guard?: GuardSettings;
}

/** The last event is `done`, `paused` or `stuck`. */
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
  /** `checkpoint`: the best so far; undefined when there is none. */
  | {
      readonly type: 'stuck';
      readonly why: string;
      readonly isRetryable: boolean;
      readonly checkpoint: Checkpoint | undefined;
    }
  | { readonly type: 'done'; readonly checkpoint: Checkpoint };
