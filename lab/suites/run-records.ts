import type { Condition } from './arms.ts';

/** One question, asked and graded: a line of the journal. Reports are made from these lines alone. */
export interface QuestionRecord {
  readonly condition: Condition;
  readonly seed: number;
  /** Counted from 0. */
  readonly day: number;
  readonly dayId: string;
  readonly arc?: string;
  readonly question: string;
  readonly kind: 'choice' | 'files';
  /** 0 to 1; for files 0 or 1. Undefined when it could not be graded, with `why`. */
  readonly score?: number;
  /** Exactly the right answer, or every check. */
  readonly passed?: boolean;
  readonly why?: string;
  /** The score by the definitions of the harness that the suite was published with. */
  readonly official?: number;
  /** The rules that applied, and those that were broken. */
  readonly rules: readonly string[];
  readonly broken: readonly string[];
  /** Ids of the lessons in the prompt, and the library's generation. */
  readonly lessons: readonly string[];
  /** Those of `lessons` that stand there by a line only. Rows of earlier versions have none. */
  readonly listed?: readonly string[];
  readonly generation: number;
  /** Those of `rules` that a lesson in the prompt teaches. */
  readonly taught: readonly string[];
  /** Those of `taught` that only an index line teaches. Rows of earlier versions have none of the fields from here to `told`. */
  readonly byLine?: readonly string[];
  /** Those of `rules` that an active lesson of the library teaches, in the prompt or not. */
  readonly known?: readonly string[];
  /** Those of `rules` that feedback in the prompt explains: earlier in the conversation, or in the notes. */
  readonly told?: readonly string[];
  readonly steps: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly usd: number;
  /** From question to answer, and the part of it outside the policy. */
  readonly ms: number;
  readonly overheadMs: number;
}

/** A lesson at the end of a day. */
export interface LessonRecord {
  readonly condition: Condition;
  readonly seed: number;
  readonly day: number;
  readonly id: string;
  readonly name: string;
  readonly state: string;
  readonly teaches: readonly string[];
}

/** The training after a day. */
export interface NightRecord {
  readonly condition: Condition;
  readonly seed: number;
  readonly day: number;
  /** Steps that changed weights; 0 when there was nothing new to train for. */
  readonly steps: number;
  /** Mean reward and share of complete attempts in the first and in the last step. */
  readonly first?: { readonly reward: number; readonly completion: number };
  readonly last?: { readonly reward: number; readonly completion: number };
  /** Held-out tasks that both the new weights and the serving ones attempted, and the mean reward of each. */
  readonly pairs: number;
  readonly candidate?: number;
  readonly live?: number;
  /** What happened to the new weights, in words; and the version that serves from here on. */
  readonly moves: readonly string[];
  readonly serving: number;
  readonly ms: number;
  /** Attempts and sampled tokens that the steps trained on. Nights of earlier versions have none. */
  readonly attempts?: number;
  readonly tokens?: number;
}

/** What learning cost on a day, besides the policy's own answers. */
export interface DayOfLearning {
  readonly condition: Condition;
  readonly seed: number;
  readonly day: number;
  /** Calls of models that write or judge lessons, and their tokens. */
  readonly calls: number;
  readonly tokens: number;
  readonly usd: number;
}

/** A rule of a run. Seeds may have rules of their own: then an id contains its seed. */
export interface HeadRule {
  readonly id: string;
  readonly title: string;
  readonly since: number;
  /** The rule form, and how much of it pre-training may have seen. */
  readonly form?: string;
  readonly origin?: string;
  /** The seed whose set it belongs to; absent where all seeds share one set. */
  readonly seed?: number;
}

/** How a run was configured; the journal's first line. */
export interface RunHead {
  readonly run: string;
  readonly suite: string;
  /** The suite's options: `rules`, `split`, `form`. */
  readonly options: Readonly<Record<string, string | number | boolean>>;
  readonly policy: string;
  readonly conditions: readonly Condition[];
  readonly seeds: readonly number[];
  readonly questions: number;
  readonly rules: readonly HeadRule[];
  /** The version of the arms; 1 where it is missing. */
  readonly arms?: number;
  readonly startedAt: string;
  readonly version: string;
  /** What a reader should know, such as a condition that could not be run and why. */
  readonly notes: readonly string[];
}
