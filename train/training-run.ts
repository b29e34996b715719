import type { TrainingEngine } from '../src/core/training.ts';
import type { LiveTurn } from './advantage.ts';
import type { PolicyVersion } from './promotion-stages.ts';
import type { RewardGuardSettings } from './reward-guard.ts';
import type { BatchRefusal, Rollout } from './rollout.ts';
import type { RunCheckpoint, RunJournal, TeachReport } from './run-journal.ts';
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

/** When a batch is sampled on: until it has its number of groups that differ. */
export interface RefillRule<Task> {
  /** What tasks share that are alike to the policy, such as the rule that they test. */
  readonly kindOf: (task: Task) => string;
  /** Rounds of further groups, at most. */
  readonly rounds: number;
  /** With fewer groups that differ, twice running, the run has learned what its tasks can teach, and ends. */
  readonly least: number;
}

/** Examples are attempts that were right in full; each is learned token by token. */
export interface TeachRule<Task> {
  readonly tasks: readonly Task[];
  /** By default those of the run. Another one may put the replies behind other prompts. */
  readonly rollouts?: MakeRollouts<Task>;
  /** Attempts at each task, and how many different replies of them are kept at most. */
  readonly attempts: number;
  readonly keep: number;
  readonly epochs: number;
  /** Examples of an update. */
  readonly size: number;
  readonly learningRate: number;
}

export interface ValidateRule<Task> {
  readonly tasks: readonly Task[];
  /** After this many steps each, and at the end. */
  readonly every: number;
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
  /**
   * The next batch is sampled while this one is trained on: by the weights from before it, whatever is done first, so that a run that was
   * interrupted ends the same. Its attempts are one update older, which the loss corrects by their log-probabilities.
   */
  readonly isAhead?: boolean;
  /** Replaces groups that have nothing to compare; absent: a batch has its groups, whatever they are like. */
  readonly refill?: RefillRule<Task>;
  /** Supervised updates before the first batch; none by default. */
  readonly teach?: TeachRule<Task>;
  /** Tasks that choose the best checkpoint of the run; absent: the last one. They are not trained on. */
  readonly validate?: ValidateRule<Task>;
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

/** In milliseconds, and how many attempts were made in them, with those of groups that do not differ. */
export interface StepTimes {
  readonly sampling: number;
  readonly training: number;
  readonly attempts: number;
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
      readonly took: StepTimes;
    }
  /** So many examples were kept of so many tasks. */
  | { readonly type: 'examples-kept'; readonly tasks: number; readonly of: number; readonly kept: number }
  | { readonly type: 'taught'; readonly checkpoint: RunCheckpoint; readonly report: TeachReport }
  | {
      readonly type: 'validated';
      readonly version: number;
      readonly reward: number;
      readonly tasks: number;
    }
  /** Its tasks have nothing more to compare: the run ends at its best checkpoint. */
  | { readonly type: 'ran-dry'; readonly differ: number; readonly wanted: number }
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
