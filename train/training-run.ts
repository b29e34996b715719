import type { TrainingEngine } from '../src/core/training.ts';
import type { LiveTurn } from './advantage.ts';
import type { PolicyVersion } from './promotion-stages.ts';
import type { RewardGuardSettings } from './reward-guard.ts';
import type { BatchRefusal, Rollout } from './rollout.ts';
import type { RunCheckpoint, RunJournal } from './run-journal.ts';
import type { StepSettings } from './step.ts';
import type { StepReport } from './step-metrics.ts';

/**
 * Makes `count` attempts at a task by a policy, each stamped with its version. The same `seed` and weights give the same
 * attempts under the same ids if the engine is deterministic: an interrupted group is requested again.
 */
export type MakeRollouts<Task, Made extends Rollout = Rollout> = (
  policy: PolicyVersion,
  task: Task,
  count: number,
  context: { readonly seed: string; readonly signal: AbortSignal },
) => Promise<readonly Made[]>;

/** Which live turns a step may use: of this generation, by one of these versions. */
export interface LiveTurnsQuery {
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
  readonly rollouts: MakeRollouts<Task>;
  /** Batches of the whole run, whatever their outcome. */
  readonly steps: number;
  readonly batch: {
    readonly groups: number;
    readonly size: number;
    /** Groups that are sampled in parallel; 1 by default. */
    readonly atOnce?: number;
  };
  /** The generation in force, read before every step. */
  readonly generation: () => Promise<number>;
  /** Live turns to use besides groups, read before every step; none by default. They are not journaled: a repeated step may get others. */
  readonly live?: (wanted: LiveTurnsQuery) => Promise<readonly LiveTurn[]>;
  readonly journal: RunJournal;
  readonly signal: AbortSignal;
  readonly rank: number;
  readonly seed?: number;
  /** The first checkpoint of a new run; a new adapter by default. */
  readonly from?: RunCheckpoint;
  /** The version of a new adapter; 0 by default. */
  readonly firstVersion?: number;
  /** The engine's default if not given. */
  readonly learningRate?: number;
  readonly settings?: Partial<StepSettings>;
  readonly guard?: RewardGuardSettings;
}

/** The last event is `done`, `paused` or `stuck`. */
export type TrainerEvent =
  | {
      readonly type: 'group-collected';
      readonly batch: string;
      readonly slot: number;
      readonly reward: number;
      /** The means of the parts of its rewards; absent: they are the task's alone. */
      readonly parts?: Readonly<Record<string, number>>;
    }
  | {
      readonly type: 'group-refused';
      readonly batch: string;
      readonly slot: number;
      readonly refusal: BatchRefusal;
    }
  | {
      readonly type: 'step-trained';
      readonly batch: string;
      readonly checkpoint: RunCheckpoint;
      readonly report: StepReport;
    }
  | { readonly type: 'step-idle'; readonly batch: string; readonly report: StepReport }
  | { readonly type: 'step-refused'; readonly batch: string; readonly refusal: BatchRefusal }
  | { readonly type: 'step-failed'; readonly batch: string; readonly why: string }
  | {
      readonly type: 'rolled-back';
      readonly batch: string;
      readonly to: RunCheckpoint;
      readonly rate: number;
    }
  | { readonly type: 'paused'; readonly batch: string }
  /** `checkpoint`: the best so far; undefined when there is none. */
  | {
      readonly type: 'stuck';
      readonly why: string;
      readonly isRetryable: boolean;
      readonly checkpoint: RunCheckpoint | undefined;
    }
  | { readonly type: 'done'; readonly checkpoint: RunCheckpoint };
