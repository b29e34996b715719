import type { Budget, Spending } from '../../core/budget.ts';
import type { Clock } from '../../core/clock.ts';
import type { Ask } from '../../core/learn.ts';
import type { Library } from '../../core/library.ts';
import type { LessonsForTask, MakeAttempt, PracticeTask } from '../../core/practice.ts';
import type { Records } from '../../core/store.ts';
import type { Gate } from '../gate/gate.ts';
import type { IdentityJudge } from '../identity/open-identity-judge.ts';
import type { RewardWeights } from '../identity/weigh-rewards.ts';
import type { JudgeModel } from '../trial/replay-tasks.ts';
import type { TrialParts, TrialSettings } from '../trial/trials.ts';
import type { PracticeHistory } from './practice-history.ts';
import type { PracticeInput, SimilarTexts } from './practice-input.ts';
import type { RunUnits } from './practice-units.ts';
import type { SessionTraining } from './session-weights.ts';
import type { EmbedTexts } from './sources/near-tasks.ts';
import type { PracticeTasks } from './sources/practice-tasks.ts';
import type { RecordedGroup } from './sources/recorded-groups.ts';

/** What a session needs. It writes through `records` and `library.publish` alone. */
export interface SessionParts {
  readonly records: Pick<Records, 'append' | 'events' | 'facts' | 'block' | 'turn'>;
  readonly tasks: PracticeTasks;
  readonly history: PracticeHistory;
  readonly library: Library;
  readonly gate: Gate;
  readonly checkText: PracticeInput['checkText'];
  readonly similar: SimilarTexts;
  readonly embed: EmbedTexts;
  /** Groups of recorded work that the learning model may see, the best first. */
  readonly findRecorded: (signal: AbortSignal) => Promise<readonly RecordedGroup[]>;
  readonly lessonsFor: LessonsForTask;
  /** Makes attempts within a budget; opened for each session. */
  readonly openAttempts: (budget: Budget, signal: AbortSignal) => Promise<SessionAttempts>;
  /** Whether a task's words may be sent to the model that attempts. */
  readonly mayAttempt: (task: PracticeTask) => Promise<boolean>;
  /** Why a task cannot be attempted and checked on this machine now; undefined when it can. */
  readonly whyNotAttempted: (task: PracticeTask) => Promise<string | undefined>;
  /** The task with what grades attempts at it, where it has no check of its own. */
  readonly withCheck: (task: PracticeTask) => Promise<PracticeTask>;
  /** The model that draws conclusions, within a budget; undefined: attempts are graded, and nothing is concluded. */
  readonly openAsk: (budget: Budget) => Promise<{ readonly ask: Ask; readonly model: string } | undefined>;
  readonly openBudget: (spent: Spending) => Budget;
  /** Compares answers to recorded requests, within a budget; undefined without a judge. */
  readonly openJudge: (budget: Budget) => Promise<JudgeModel | undefined>;
  /** Says how far answers keep an identity, within a budget; undefined without a judge, and with one that failed its test. */
  readonly openIdentityJudge?: (
    budget: Budget,
    journal: RunUnits,
    signal: AbortSignal,
  ) => Promise<IdentityJudge | undefined>;
  /** Recorded requests that can be answered again, for lessons that no task of the gate fits. */
  readonly replayTasks: () => Promise<readonly PracticeTask[]>;
  readonly effects: TrialParts['effects'];
  /** Read for each session: they may change. */
  readonly settings: () => SessionSettings;
  readonly mayPromote: boolean;
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
}

export interface SessionSettings {
  readonly groupSize: number;
  readonly temperature: number;
  readonly timeoutMs: number;
  readonly trials: Pick<TrialSettings, 'pairs' | 'repeats'>;
  /** What rewards of attempts are made of; absent: of the task's own. */
  readonly rewards?: RewardWeights;
}

export interface SessionAttempts {
  /** Who attempts: `provider/model`, a policy's version or a program. */
  readonly agent: string;
  /** 1 where an engine trains on what it sampled. */
  readonly temperature?: number;
  /** Repeats an attempt that failed for reasons of infrastructure, as often as that makes sense. */
  readonly make: MakeAttempt;
  /** With an engine that trains what attempts: `make` is then the newest weights, and this the weights that serve. */
  readonly serving?: MakeAttempt;
  readonly training?: SessionTraining;
  /** Why an engine that could train does not. */
  readonly untrained?: string;
  close?(): Promise<void>;
}
