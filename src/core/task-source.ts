import type { GatewayClient } from './gateway-client.ts';
import type { JsonObject } from './json.ts';
import type { PlacedLessons } from './lesson.ts';

/**
 * Where training gets its tasks from: the user's recorded sessions, or a module that somebody else provides, such as a
 * benchmark. `train` and `heldOut` share no task, so that weights are measured on tasks they were not trained on. A
 * source opened again with the same options yields the same tasks under the same ids in the same order: a run that was
 * interrupted continues exactly where it stopped. Both may return fewer tasks when the signal aborts.
 */
export interface TaskSource {
  /** Tasks to attempt and learn from. */
  train(signal: AbortSignal): Promise<readonly TrainingTask[]>;
  /** Tasks to compare new weights with the serving ones on. */
  heldOut(signal: AbortSignal): Promise<readonly TrainingTask[]>;
}

/** A source by name, as plain data: a training plan contains it, and the training thread opens it with `import()`. */
export interface TaskSourceRef {
  /** A `file:` URL of a JavaScript module that exports `openTaskSource: OpenTaskSource`. */
  readonly module: string;
  readonly options: JsonObject;
}

/** Rejects when the options are not its own. */
export type OpenTaskSource = (options: JsonObject) => Promise<TaskSource>;

/** Something that can be attempted any number of times: each attempt starts from the same state. */
export interface TrainingTask {
  /** Begins with the source's name, `workdays/train/6/q3`. Two tasks with the same id are the same task. */
  readonly id: string;
  /** Tasks with the same root count as one where weights are measured; absent: its id. */
  readonly root?: string;
  /** Which lessons are shown with it. */
  readonly recall: TaskRecall;
  /** The lessons that come with the task, instead of the library's. */
  readonly shown?: PlacedLessons;
  /** Right replies are learned as if these lessons had been shown instead; absent: behind the prompt that they were given to. */
  readonly learnedWith?: PlacedLessons;
  /** What it tests: tasks of one form are alike in what they ask for. */
  readonly form?: string;
  /** A reply that is known to be right. Where no attempt is right it is taught, if it is graded as right, too. */
  rightReply?(): string | undefined;
  /**
   * Prepares one attempt. What takes time before the first request to the model, such as filling a workspace, happens
   * here: the attempts of a group then send their first request in the same tick, and the engine reads their prompt once.
   */
  open(): Promise<TaskAttempt>;
}

export interface TaskRecall {
  /** The task in the user's words. */
  readonly task: string;
  /** Whose task it is, if it is someone's. */
  readonly agent?: string;
  readonly project?: string;
  readonly domain?: string;
  /** Rules that the weights keep: their lessons are not shown. */
  readonly remembered?: RememberedRules;
}

/** Rules that weights kept on tasks that they were not trained on, without their lessons. A rule that was changed since is another one. */
export interface RememberedRules {
  /** When that was measured. */
  readonly at: number;
  readonly rules: readonly { readonly lesson: string; readonly revision: number }[];
}

/** One attempt, run at most once. */
export interface TaskAttempt {
  /** Does the task with the policy and verifies the outcome. Never rejects. */
  run(policy: AttemptPolicy, signal: AbortSignal): Promise<AttemptResult>;
  /** Removes what `open` created. */
  close(): Promise<void>;
}

/** The policy that makes the attempt. */
interface AttemptPolicy {
  readonly speak: GatewayClient;
  /** The session of this attempt alone. */
  readonly session: string;
}

export type AttemptResult =
  | {
      readonly ok: true;
      /** 0 to 1. */
      readonly reward: number;
      /** The lessons whose checks gave the reward; none: a verifier did. */
      readonly rules?: readonly string[];
      /** The task is done in full, whatever the reward includes besides; undefined when the verifier does not tell. */
      readonly isComplete?: boolean;
      /** The task itself is done, house rules aside. */
      readonly isDone?: boolean;
      /** What was answered, in words, where a judge may read it. */
      readonly answer?: string;
    }
  /** The model or the verifier failed. That says nothing about the policy, and the attempt is dropped. */
  | {
      readonly ok: false;
      readonly why: string;
      /** Only the grade is missing: the policy did answer. */
      readonly isUngraded?: true;
    };
