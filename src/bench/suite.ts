import type { Workspace } from '../sandbox/workspace.ts';

/** A benchmark: days of work in order, under rules of the house that nobody states. */
export interface Suite {
  readonly name: string;
  /** Each once, in the order in which they begin to count; empty where a suite does not say which rules it has. */
  readonly rules: readonly Rule[];
  readonly days: readonly Day[];
}

/** Something the house wants done its way. It is felt through feedback, never told beforehand. */
export interface Rule {
  /** `P1` */
  readonly id: string;
  readonly title: string;
  /** The first day, counted from 0, on which breaking it counts. */
  readonly since: number;
  /** Whether a text holds what one needs to obey. For the scripted policy and the report; no agent sees it. */
  isTaughtBy(text: string): boolean;
}

export interface Day {
  /** `day01` */
  readonly id: string;
  readonly about: string;
  /** The learning arc it belongs to. */
  readonly arc?: string;
  /** What the agent is told before anything else. */
  readonly system: string;
  /** What the workspace begins with: a folder that is copied, or texts by path. It lasts for the day. */
  readonly files: { readonly folder: string } | { readonly texts: Readonly<Record<string, string>> };
  /** Whether the day is one conversation, or each question one of its own. */
  readonly conversation: 'day' | 'question';
  /** The built-in command language, or real commands behind a wall. */
  readonly shell: 'plain' | 'confined';
  readonly questions: readonly Question[];
}

export type Question = ChoiceQuestion | FileQuestion;

/** Select all that are right; answered as `\bbox{A,C}`. */
export interface ChoiceQuestion {
  readonly kind: 'choice';
  readonly id: string;
  /** As the agent reads it, options included. */
  readonly text: string;
  /** By letter. */
  readonly options: Readonly<Record<string, string>>;
  readonly answer: readonly string[];
  /** The rule one has to know to answer, where it is not in the documents. */
  readonly rule?: string;
  /** What the user says afterwards; undefined when no answer could be read. */
  feedback(chosen: readonly string[] | undefined): string;
}

/** Something to do in the workspace. */
export interface FileQuestion {
  readonly kind: 'files';
  readonly id: string;
  readonly text: string;
  /** The rules that count for it on this day. */
  readonly rules: readonly string[];
  check(workspace: Workspace, signal: AbortSignal): Promise<Verdict>;
  feedback(verdict: Verdict): string;
  /** Commands that do the task and obey these of its rules and break the others; absent where nobody wrote them. */
  solve?(obeyed: ReadonlySet<string>): readonly string[];
}

export interface Verdict {
  /** `failed-to-run`: the check itself, not the work. Neither right nor wrong. */
  readonly status: 'ok' | 'failed-to-run';
  readonly passed: boolean;
  /** Whether the task was done, rules aside; absent where a check cannot tell. */
  readonly isDone?: boolean;
  /** Ids of the rules that were broken, where a check can tell. */
  readonly broken: readonly string[];
  /** For people, and for a learner that is allowed to read them. */
  readonly reasons: readonly string[];
}
