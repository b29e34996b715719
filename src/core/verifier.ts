import type { ChatMessage } from './chat.ts';
import type { Json } from './json.ts';

/** How a command in a workspace ended. `refused`: it was not run. */
export type WorkspaceRunResult =
  | { readonly end: 'exit'; readonly code: number; readonly stdout: string; readonly stderr: string }
  | { readonly end: 'stopped'; readonly why: string; readonly stdout: string; readonly stderr: string }
  | { readonly end: 'refused'; readonly why: string };

export interface WorkspaceRunOptions {
  readonly timeoutMs?: number;
  readonly outputBytes?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly readable?: readonly string[];
}

/** The folder of an attempt: the part of a confined workspace that a verifier needs. */
export interface VerifiedWorkspace {
  run(
    command: string | readonly string[],
    options: WorkspaceRunOptions,
    signal: AbortSignal,
  ): Promise<WorkspaceRunResult>;
  runPlain(lines: string, options: WorkspaceRunOptions): Promise<WorkspaceRunResult>;
}

/** An attempt at a task, to be graded. */
export interface Submission {
  readonly task: string;
  readonly output: string;
  readonly domain: string;
  /** The right answer, where it is known. */
  readonly reference?: Json;
  readonly workspace?: VerifiedWorkspace;
  /** The steps of the attempt, in order. */
  readonly steps?: readonly string[];
  /** The whole conversation of the attempt. */
  readonly messages?: readonly ChatMessage[];
}

/** A grade. `failed-to-run`: the verifier failed, which says nothing about the attempt. */
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

/** Grades attempts at the same task; the grades are in the order of the attempts. */
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
