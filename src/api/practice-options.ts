import type { ChatModel } from '../core/chat.ts';
import type { Json } from '../core/json.ts';
import type { TaskCheck } from '../core/practice.ts';
import type { PracticePolicy } from '../learn/practice/function-attempts.ts';
import type { PracticeEvent } from '../learn/practice/practice-input.ts';

/** A task of the library user: its prompt, or more. */
export interface LibraryTask {
  readonly prompt: string;
  /** The right answer, for `verify`. It reaches no prompt. */
  readonly answer?: Json;
  readonly system?: string;
  readonly domain?: string;
  /** Default: a hash of the task. */
  readonly id?: string;
}

/** A grade from 0 to 1, or yes and no, alone or with reasons that the learner may read. */
export type LibraryGrade =
  | number
  | boolean
  | {
      readonly reward: number;
      readonly reasons?: readonly string[];
      readonly stepScores?: readonly number[];
    };

/** Grades an answer. One that throws has failed to run: the attempt is not counted as a failure. */
export type LibraryVerify = (output: string, task: LibraryTask) => Promise<LibraryGrade>;

export interface PracticeOptions {
  /** Whose tasks these are, as in `open`. */
  readonly agent?: string;
  readonly project?: string;
  readonly domain?: string;
  readonly tasks: readonly (string | LibraryTask)[];
  /** Answers a task: a function, or the name of a configured model (`provider/model`, or an alias). */
  readonly policy: PracticePolicy | string;
  /** A function, or a verifier as in the config (`{ kind: 'exact' }` compares with `answer`). Without it answers are compared with each other. */
  readonly verify?: LibraryVerify | TaskCheck;
  /** Default: `practice.budget` of the config. */
  readonly budget?: {
    readonly usd?: number;
    readonly tokens?: number;
    readonly calls?: number;
    readonly minutes?: number;
  };
  /** The model that draws the conclusions: a function, or a configured name. Default: `models.evolver`, else `models.default`. */
  readonly learner?: ChatModel | string;
  readonly groupSize?: number;
  readonly epochs?: number;
  /** The same seed makes the same attempts; those that were made are not paid for again. */
  readonly seed?: string;
  readonly onEvent?: (event: PracticeEvent) => void;
  readonly signal?: AbortSignal;
}
