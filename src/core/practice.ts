import type { Spending } from './budget.ts';
import type { RuleCheck } from './check.ts';
import type { Json } from './json.ts';
import type { TrajectoryStep } from './learn.ts';
import type { PlacedLessons } from './lesson.ts';
import type { TaskRecall } from './task-source.ts';
import type { SampledTurn } from './training.ts';
import type { PracticeVerifierRow, VerifierRow } from './verifier-row.ts';

/**
 * Where a task of practice comes from, the most trusted first: a file that a person wrote, a recorded request of a user, a question
 * that the library leaves open, a variation of one of these.
 */
export const TASK_ORIGINS = ['curated', 'mined', 'gap', 'variation'] as const;
export type TaskOrigin = (typeof TASK_ORIGINS)[number];

/** `learn`: lessons come from attempts at it. `gate`: lessons are measured on it. `report`: opened once, for the report. */
export type TaskSplit = 'learn' | 'gate' | 'report';

/** How an attempt is graded; without a check, attempts are compared with each other. */
export type TaskCheck = WithoutDomain<VerifierRow | PracticeVerifierRow>;
/** Of each kind by itself: `Omit` of a union keeps only what all kinds share. */
type WithoutDomain<Row> = Row extends unknown ? Omit<Row, 'domain'> : never;

/** A rule that a person told, with the accepted check of it. */
export interface CheckedRule {
  readonly lesson: string;
  /** In the person's words. */
  readonly rule: string;
  readonly check: RuleCheck;
}

/** The rules in whose scope a task is. It is made when the task is opened, since rules change; nobody configures it. */
interface RulesCheck {
  readonly kind: 'rules';
  readonly rules: readonly CheckedRule[];
}

/** What an attempt begins with. */
export type WorkspaceSnapshot =
  /** By path, relative to the workspace. */
  | { readonly kind: 'files'; readonly files: Readonly<Record<string, string>> }
  /** A commit of a repository on this machine, and what was not committed at that moment. The owner has allowed it. */
  | {
      readonly kind: 'git';
      readonly repository: string;
      readonly commit: string;
      /** What was changed in tracked files, for `git apply`. */
      readonly diff?: string;
      /** Small text files that git did not track, by path. */
      readonly untracked?: Readonly<Record<string, string>>;
    };

/** Something to attempt, any number of times. Plain data. */
export interface PracticeTask {
  /** The same task found again has the same id. */
  readonly id: string;
  /** What it and its variations come from: all of them are in one split. */
  readonly root: string;
  readonly origin: TaskOrigin;
  /** In the user's words. */
  readonly prompt: string;
  /** The system prompt, where it matters. */
  readonly system?: string;
  /** What was said before the prompt, the oldest first. */
  readonly history?: readonly { readonly role: 'user' | 'assistant'; readonly text: string }[];
  /** Further messages of the user, each sent after the reply to the one before. */
  readonly followUps?: readonly string[];
  readonly domain: string;
  /** Whose task it is, if it is someone's. */
  readonly agent?: string;
  readonly project?: string;
  /** Absent: reasoning alone. */
  readonly workspace?: WorkspaceSnapshot;
  readonly check?: TaskCheck | RulesCheck;
  /** The right answer, where it is known. */
  readonly reference?: Json;
  /** The check or the answer was concluded from the record, and not given by a person. */
  readonly isApproximate?: true;
  /** The lessons that the task is to decide about. */
  readonly about?: readonly string[];
  /** The session and turn that it was mined from. */
  readonly from?: { readonly session: string; readonly turn: string };
  /** The estimated share of attempts that succeed, 0 to 1. */
  readonly expected?: number;
  /** The recorded work needed a workspace that was not kept: it is compared with other recorded work, and never attempted. */
  readonly isRecordOnly?: true;
}

/** What is asked of a source. */
export interface TasksWanted {
  /** At most this many. */
  readonly count: number;
  /** Only tasks of these, where they are given. */
  readonly domain?: string;
  readonly agent?: string;
  readonly project?: string;
}

/** Where tasks of practice come from. The same task found again has the same id. Returns fewer when the signal aborts. */
export interface PracticeSource {
  readonly origin: TaskOrigin;
  find(wanted: TasksWanted, signal: AbortSignal): Promise<readonly PracticeTask[]>;
}

/** The lessons of one attempt, rendered as the gateway renders them. */
export interface AttemptLessons extends PlacedLessons {
  readonly lessons: readonly string[];
  readonly generation: number;
}

/**
 * The lessons for a task, as production would show them now; `without` are left out, `with` are shown in any case, those with a
 * revision only while they have it.
 */
export type LessonsForTask = (
  query: TaskRecall,
  force?: {
    readonly with?: readonly string[];
    readonly without?: readonly string[];
    readonly revisions?: Readonly<Record<string, number>>;
  },
) => Promise<AttemptLessons>;

/** One attempt to be made. */
export interface AttemptOrder {
  /** Unique within the home: run, task, place. */
  readonly id: string;
  readonly task: PracticeTask;
  /** The name of the agent that makes it; absent: the first one. Several agents may attempt one task. */
  readonly agent?: string;
  readonly shown: AttemptLessons;
  /** All randomness of the attempt comes from it. */
  readonly seed: string;
  readonly temperature: number;
  readonly timeoutMs: number;
}

/** Makes an attempt and grades it where the task has a check. Never rejects; what it started is over when it resolves. */
export type MakeAttempt = (order: AttemptOrder, signal: AbortSignal) => Promise<Attempt>;

/** An attempt and its outcome. Plain data, so that a journal can keep it. */
export interface Attempt {
  readonly id: string;
  readonly task: string;
  /** Who attempted it: `provider/model`, a policy's version, or the name of an agent's program. */
  readonly by: string;
  /** The recorded work of a user that it was; absent for attempts of practice. Its turn is the id. */
  readonly from?: { readonly session: string; readonly turn: string };
  readonly generation: number;
  /** The lessons that it was shown. */
  readonly lessons: readonly string[];
  readonly outcome: AttemptOutcome;
  /** The last answer in words. */
  readonly output: string;
  readonly steps: readonly TrajectoryStep[];
  readonly used: Spending;
  /** What the policy sampled, where the engine tells: then weights can learn from it, too. */
  readonly sampled?: readonly SampledTurn[];
}

export type AttemptOutcome =
  | {
      readonly is: 'graded';
      /** 0 to 1. */
      readonly reward: number;
      readonly reasons: readonly string[];
      /** 0 to 1, one for each step, where the verifier gives them. */
      readonly stepScores?: readonly number[];
    }
  /** It was made, and nothing graded it yet: it can be compared with others. */
  | { readonly is: 'ungraded' }
  /** A provider, a tool of ours or a verifier failed, or time ran out there: it says nothing about the agent and teaches nothing. */
  | {
      readonly is: 'infrastructure';
      readonly why: string;
      /** The provider is limited: nothing is gained by asking it sooner. */
      readonly retryAfterMs?: number;
      /** What failed is overloaded or limits its callers: fewer attempts at the same time may work. */
      readonly isLimited?: true;
      /** The same attempt would fail again. */
      readonly isLasting?: true;
      /** It was not made: a budget does not allow it. */
      readonly isOverBudget?: true;
    };

/** Who graded the attempts of a group. `recorded`: real sessions, graded as the record tells. */
export type GradedBy = 'verifier' | 'compared' | 'person' | 'recorded';

/** Attempts at one task by the same agent under the same generation. */
export interface AttemptGroup {
  readonly id: string;
  readonly task: PracticeTask;
  readonly generation: number;
  readonly gradedBy: GradedBy;
  readonly attempts: readonly Attempt[];
}

/** What a training engine made of the groups of one batch. Plain data, so that a journal can keep it. */
export interface TrainedGroups {
  /** Groups that its weights were updated with. */
  readonly groups: number;
  /** The version of the weights after it. */
  readonly version: number;
  /** The other groups, and why each was not trained on. */
  readonly refused: readonly { readonly group: string; readonly why: string }[];
}

/**
 * How new weights did against the live ones on tasks of the gate split. `promoted`: they serve, or a share of the sessions.
 * `refused`: they were worse, or not shown to be as good. `undecided`: the measurement goes on later. `unmeasured`: it could not begin.
 * `unchanged`: there are no new weights.
 */
export interface WeightsVerdict {
  readonly outcome: 'promoted' | 'refused' | 'undecided' | 'unmeasured' | 'unchanged';
  readonly why: string;
  /** Of the weights that it is about. */
  readonly version: number;
  /** Pairs of attempts that were compared in this session, the tasks that they were at, and the mean rewards. */
  readonly pairs: number;
  readonly tasks: number;
  readonly candidate?: number;
  readonly live?: number;
}

/** What a session of practice did to weights. */
export interface SessionWeights {
  /** Updates, the groups they were made with, and the groups that were refused. */
  readonly steps: number;
  readonly groups: number;
  readonly refused: number;
  /** Why groups were refused, or why nothing was trained; each reason once. */
  readonly notes: readonly string[];
  readonly verdict?: WeightsVerdict;
}

/** The units of work of one practice run. A unit that was written is never paid for again, in this run or after a crash. */
export interface PracticeJournal {
  /** The value as it was stored: without secrets, and null when its session was erased. */
  read(unit: string): Promise<Json | undefined>;
  /** Durable when it resolves. The first value of a unit stays. */
  write(unit: string, value: Json, about?: UnitOrigin): Promise<void>;
  /** The value that any run has for the same content; undefined when there is none. */
  cached?(key: string): Promise<Json | undefined>;
  /** What the run has done so far, in order. */
  units?(): ReadonlyMap<string, Json>;
}

/** What a unit is about. */
export interface UnitOrigin {
  /** The recorded sessions that its tasks were mined from: erasing one of them erases the value. */
  readonly sessions?: readonly string[];
  /** A hash of everything that the value depends on: other runs find it by this. */
  readonly key?: string;
}

/** The kinds of practice sessions. */
export const PRACTICE_KINDS = ['initial', 'maintenance', 'remedial', 'exploratory', 'micro'] as const;
export type PracticeKind = (typeof PRACTICE_KINDS)[number];
