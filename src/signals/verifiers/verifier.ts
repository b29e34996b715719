import type { Json } from '../../core/json.ts';

/** How a command in a workspace ended. Refused: it was not run. */
export type CheckResult =
  | { readonly end: 'exit'; readonly code: number; readonly stdout: string; readonly stderr: string }
  | { readonly end: 'stopped'; readonly why: string; readonly stdout: string; readonly stderr: string }
  | { readonly end: 'refused'; readonly why: string };

export interface CheckOptions {
  readonly timeoutMs?: number;
  readonly outputBytes?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly readable?: readonly string[];
}

/** The folder an attempt worked in: what a verifier needs of a confined workspace. */
export interface CheckedPlace {
  run(command: string | readonly string[], options: CheckOptions, signal: AbortSignal): Promise<CheckResult>;
  runPlain(lines: string, options: CheckOptions): Promise<CheckResult>;
}

/** An attempt at a task, to be graded. */
export interface Submission {
  readonly task: string;
  readonly output: string;
  readonly domain: string;
  /** What the right answer is, where someone knows. */
  readonly reference?: Json;
  readonly workspace?: CheckedPlace;
  /** What was done on the way, in order. */
  readonly steps?: readonly string[];
}

/** A grade; or that there is none, because the verifier, not the attempt, went wrong: then it says nothing of the attempt. */
export type Verification =
  | {
      readonly status: 'ok';
      /** 0 to 1. */
      readonly reward: number;
      readonly reasons: readonly string[];
      /** 0 to 1, one for each step. */
      readonly stepScores?: readonly number[];
    }
  | { readonly status: 'failed-to-run'; readonly reasons: readonly string[] };

/** Grades one attempt. Those in the registry never reject. */
export type Verifier = (submission: Submission, signal: AbortSignal) => Promise<Verification>;

/** Grades attempts at the same task by comparing them; the grades are in the order of the attempts. */
export type GroupVerifier = (
  submissions: readonly Submission[],
  signal: AbortSignal,
) => Promise<readonly Verification[]>;

export const graded = (reward: number, ...reasons: readonly string[]): Verification => ({
  status: 'ok',
  reward,
  reasons,
});

export const notRun = (...reasons: readonly string[]): Verification => ({ status: 'failed-to-run', reasons });
