import { errorMessage } from '../src/core/failure.ts';
import type { JobContext } from '../src/core/schedule.ts';
import type { RememberedRules, TaskRecall, TaskSourceRef } from '../src/core/task-source.ts';
import type { PolicyTemplate } from '../src/core/training.ts';
import type { LiveTurn } from './advantage.ts';
import type { LiveQuery } from './live-turns.ts';
import type { TaskLessons } from './policy-rollouts.ts';
import type { PromotionEvent } from './promotion.ts';
import type { CheckpointMoved, PromotionState } from './promotion-stages.ts';
import type { RecordedAnswer, RecordedGrade, RecordedTask } from './recorded-tasks.ts';
import type { RunCheckpoint } from './run-journal.ts';
import type { StepSettings } from './step.ts';
import type { StepBudget, StepPrice } from './step-budget.ts';
import type { ProfileName } from './tinker/profiles.ts';
import type { TinkerEngine } from './tinker/tinker-engine.ts';
import type { TrainingEvent } from './training-window.ts';
import type { TrialShortage } from './trial-plan.ts';
import type { ModelTuning, TrainAmount, WindowSize } from './window-size.ts';

/** One training window as plain data, for the training thread. */
export interface TrainingPlan {
  readonly engine: EngineAddress;
  /** The chat template: of the model whose tokenizer is in a folder, or what a module's `openTemplate()` returns. */
  readonly template: { readonly folder: string } | { readonly module: string };
  /** Where this engine's runs are kept. */
  readonly folder: string;
  /** What another process has trained so far; see `TrainingWindowOptions`. */
  readonly resume?: RunCheckpoint;
  /** Tasks besides the recorded ones, and those the new weights are measured on; only recorded tasks by default. */
  readonly tasks?: TaskSourceRef;
  readonly steps: number;
  readonly rank: number;
  readonly batch: { readonly groups: number; readonly size: number };
  /** Trains on these besides, first by supervised steps on replies that were right; measured as always. */
  readonly reading?: { readonly tasks: TaskSourceRef; readonly teachRate: number };
  /** Moves the rules of a person into the weights, in place of steps. `replay`: what keeps the rest as it was. */
  readonly remember?: {
    readonly rate: number;
    readonly count: number;
    readonly at: number;
    readonly replay?: TaskSourceRef;
  };
  /** There are no tasks to train on, and enough live turns: a batch consists of them. */
  readonly isLiveOnly?: true;
  /** Whether every request has to fit into the day's budget of background jobs. */
  readonly isBudgeted: boolean;
  /** What the engine charges; undefined when it is not known. */
  readonly price?: StepPrice;
  readonly tuning: Tuning;
  /** The promotion state when the window begins. */
  readonly promotion: PromotionState;
  /** Versions that were rolled back after serving. */
  readonly turnedBack: readonly number[];
  /** The file with general questions that new weights are asked; absent: none. */
  readonly regression?: string;
  /** Held-out tasks of this source are asked besides: lessons in view must go on to decide. */
  readonly regressionTasks?: TaskSourceRef;
  /** Few sessions are rated: a canary is compared on recorded requests instead. */
  readonly isThin: boolean;
  /** When the weights of the canary were proposed: nothing that was asked later is in them. Absent without a canary. */
  readonly canarySince?: number;
  /** Tasks on which the next session of practice can measure new weights, counted by origin. */
  readonly gateTasks: number;
}

/** One window that somebody asks for. */
export interface TrainingRequest {
  readonly steps?: number;
  /** Learn to follow lessons first: once for a base model. */
  readonly reading?: boolean;
  /** Move the rules that have a check into the weights, so that their lessons need not be shown. */
  readonly remember?: boolean;
  /** Those of the override by default, else the recorded tasks alone. */
  readonly tasks?: TaskSourceRef;
  /** The budget of the job that runs the window. A window of a person has none where the engine costs nothing. */
  readonly reserve?: JobContext['reserve'];
  /** The weights that an interrupted window of any process has come to. Not of an embedded engine: that is each home's own. */
  readonly resume?: RunCheckpoint;
}

/** A server that speaks the Tinker protocol. */
export interface EngineAddress {
  readonly url: string;
  readonly key?: string;
  readonly baseModel: string;
  readonly profile: ProfileName;
  /** Whether the self-test runs on connecting. */
  readonly isTested: boolean;
}

export interface Tuning {
  /** The engine's default if not given. */
  readonly learningRate?: number;
  readonly settings?: Partial<StepSettings>;
  readonly seed?: number;
  readonly size?: Partial<WindowSize>;
  /** Pairs of attempts at held-out tasks in one window; no limit by default. */
  readonly mostPairs?: number;
  /** An ablation: what the trainer still learns, it did not learn from what was taken away. */
  readonly control?: 'shuffled-rewards' | 'no-lessons';
}

/** How a window or a session of practice trains: by the model's size and the settings, unless something else is asked for. */
export function tuningOf(
  { learningRate: set }: TrainSettings,
  { learningRate: usual }: Pick<ModelTuning, 'learningRate'>,
  asked: Tuning = {},
): Tuning {
  const learningRate = set ?? usual;
  return { ...(learningRate === undefined ? {} : { learningRate }), ...asked };
}

/** The engine that samples and trains the policy, in a child process or on a server. It is started when first asked for. */
export interface PolicyEngine {
  /** The policy's name, which follows `instar/` in requests. */
  readonly name: string;
  readonly isEmbedded: boolean;
  /** The file with general questions in the language of this policy; absent: those for language models. */
  readonly regression?: string;
  template(): Promise<PolicyTemplate>;
  /** For those who open a connection of their own. The engine is up when this resolves. */
  place(): Promise<Pick<TrainingPlan, 'engine' | 'template'>>;
  /** The engine is up when this resolves. Rejects with a TrainingError; the next call tries again. */
  connect(): Promise<TinkerEngine>;
  state(): 'idle' | 'starting' | 'up' | 'down';
  close(): Promise<void>;
}

/** The part of the configuration that training reads. */
export interface TrainSettings {
  readonly engine: 'off' | 'nano' | { readonly baseModel: string };
  readonly amount: TrainAmount;
  /** By the model's size if not given. */
  readonly learningRate?: number | undefined;
  readonly live: boolean;
  readonly effect: number;
  /** A vLLM that serves the adapters. */
  readonly serve?:
    | {
        readonly vllm: string;
        readonly keyEnv?: string | undefined;
        readonly model?: string | undefined;
      }
    | undefined;
}

/** What the training thread asks of the daemon. */
export interface DaemonCalls extends StepBudget {
  /** The lessons that the library shows with a task now. */
  show(query: TaskRecall): Promise<TaskLessons>;
  generation(): Promise<number>;
  /** The rules in force that grade work. */
  rules(): Promise<RememberedRules['rules']>;
  tell(event: PromotionEvent): Promise<PromotionOutcome>;
  /** See `PromotionLog`. */
  shortage(clusters: number): Promise<TrialShortage | undefined>;
  /** Recorded tasks, newest first. */
  recorded(): Promise<readonly RecordedTask[]>;
  /** Undefined when neither a verifier nor a rule could grade it. */
  grade(answer: RecordedAnswer): Promise<RecordedGrade | undefined>;
  /** None while `train.live` is off. */
  live(query: LiveQuery): Promise<readonly LiveTurn[]>;
}

interface PromotionOutcome {
  readonly moves: readonly CheckpointMoved[];
  readonly promotion: PromotionState;
}

/** The daemon, as the training thread sees it. */
export interface DaemonSide {
  readonly calls: DaemonCalls;
  readonly posts:
    | { readonly type: 'event'; readonly event: TrainingEvent }
    | { readonly type: 'over' }
    | {
        readonly type: 'failed';
        readonly message: string;
        readonly category: 'user' | 'server' | 'unknown';
        readonly code?: 'no-tasks' | undefined;
      };
}

/** The training thread, as the daemon sees it. */
export interface TrainingSide {
  readonly calls: object;
  readonly posts: { readonly type: 'stop' };
}

/** How errors travel between the two threads. */
export const trainingErrors = {
  toFailure: (error: unknown) => ({
    code: '',
    message: errorMessage(error),
  }),
  toError: (_code: string, message: string): Error => new Error(message),
};
