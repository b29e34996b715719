import type { Workspace } from '../../src/agent/sandbox/workspace.ts';

/** A benchmark: days of work in order, under house rules that no prompt states. */
export interface Suite {
  readonly name: string;
  /** Each once, in the order in which they begin to count; empty where a suite does not name its rules. */
  readonly rules: readonly SuiteRule[];
  readonly days: readonly SuiteDay[];
}

/** A convention of the house. Only feedback reveals it. */
export interface SuiteRule {
  /** `P1` */
  readonly id: string;
  readonly title: string;
  /** The first day, counted from 0, on which breaking it counts. */
  readonly since: number;
  /** Whether a text contains what is needed to follow it. For the scripted policy and the report; agents do not see it. */
  isTaughtBy(text: string): boolean;
  /** The rule form, and how much of it pre-training may have seen. */
  readonly form?: string;
  readonly origin?: string;
}

export interface SuiteDay {
  /** `day01` */
  readonly id: string;
  readonly about: string;
  /** The learning arc it belongs to. */
  readonly arc?: string;
  /** The agent's system prompt. */
  readonly system: string;
  /** The initial workspace: a folder to copy, or texts by path. The workspace lasts for the day. */
  readonly files: { readonly folder: string } | { readonly texts: Readonly<Record<string, string>> };
  /** Whether the day is one conversation, or each question has its own. */
  readonly conversation: 'day' | 'question';
  /** The built-in command language, real commands in a sandbox, or no tools: then the reply is the file `REPLY_FILE`. */
  readonly shell: 'plain' | 'confined' | 'none';
  /**
   * Where the user's feedback stands: before the next question in the same message (the default), or in a message of its own, which
   * the agent answers with the corrected work.
   */
  readonly feedback?: 'with-next' | 'apart';
  /** For days without tools; the model's own settings by default. */
  readonly sampling?: { readonly maxTokens: number; readonly temperature: number };
  readonly questions: readonly SuiteQuestion[];
}

/** Where the last reply of a day without tools is. */
export const REPLY_FILE = 'reply.txt';

export type SuiteQuestion = ChoiceQuestion | FileQuestion;

/** Select all right options; answered as `\bbox{A,C}`. */
export interface ChoiceQuestion {
  readonly kind: 'choice';
  readonly id: string;
  /** As the agent reads it, options included. */
  readonly text: string;
  /** By letter. */
  readonly options: Readonly<Record<string, string>>;
  readonly answer: readonly string[];
  /** The rule that the answer depends on, where it is not in the documents. */
  readonly rule?: string;
  /** What the user says to this choice; undefined when no answer could be read. */
  feedback(chosen: readonly string[] | undefined): string;
  /** The score of a reply by the definitions of the harness that a suite was published with; may be negative. */
  official?(reply: string): number;
}

/** Something to do in the workspace. */
export interface FileQuestion {
  readonly kind: 'files';
  readonly id: string;
  readonly text: string;
  /** The rules that count for it on this day. */
  readonly rules: readonly string[];
  check(workspace: Workspace, signal: AbortSignal): Promise<TaskVerdict>;
  feedback(verdict: TaskVerdict): string;
  /** Commands that do the task, follow these of its rules and break the others; absent where a suite has none. */
  solve?(obeyed: ReadonlySet<string>): readonly string[];
  /** The same for a day without tools: a reply. */
  reply?(obeyed: ReadonlySet<string>): string;
}

export interface TaskVerdict {
  /** `failed-to-run`: the check itself failed, so the work is neither right nor wrong. */
  readonly status: 'ok' | 'failed-to-run';
  readonly passed: boolean;
  /** Whether the task was done, apart from the rules; absent where a check cannot tell. */
  readonly isDone?: boolean;
  /** The share of checks that are met; absent: 1 where it passed, else 0. */
  readonly score?: number;
  /** Ids of the broken rules, where a check can tell. */
  readonly broken: readonly string[];
  /** For people, and for a learner that may read them. */
  readonly reasons: readonly string[];
  /** Whether the checks of the harness that a suite was published with would pass; absent where there is no such harness. */
  readonly official?: boolean;
}
