import type { Failure } from '../core/failure.ts';

/**
 * The cause of a finding. `work`: the pipeline's own check, whose text may become an instruction. `thrown`: an exception
 * ended the attempt; its message may quote a page or a tool, so it is a signal and never an instruction.
 * `infrastructure` (limits, time-outs, resets, aborts, a failed model call): it says nothing about the work.
 */
export type Cause = 'work' | 'thrown' | 'infrastructure';

/** One finding about a stage. */
export interface Finding {
  readonly cause: Cause;
  /** What must change, in the pipeline's own words; the same mistake has the same reason. */
  readonly reason: string;
  /** What happened this time. For people; learning does not use it. */
  readonly detail?: string;
  /** The gateway's id of the turn; absent when no model was called. */
  readonly turn?: string;
}

/** `warned`: it succeeded with findings. */
export type StageStatus = 'ok' | 'warned' | 'failed';

/** One finished attempt at a stage, identified by `pipeline`, `run`, `stage` and `attempt`. */
export interface StageOutcome {
  readonly pipeline: string;
  readonly run: string;
  readonly agent: string;
  readonly domain?: string;
  readonly stage: string;
  /** Counts from 1 within a run. */
  readonly attempt: number;
  readonly status: StageStatus;
  /** Why it failed; empty unless it did. */
  readonly failures: readonly Finding[];
  /** The findings of each refine cycle. */
  readonly refines: readonly (readonly Finding[])[];
  readonly warnings: readonly Finding[];
  readonly durationMs: number;
  /** The session of this attempt. */
  readonly session: string;
  /** The turns that the stage reported, in order. */
  readonly turns: readonly string[];
}

/**
 * Receives outcomes. The outcome is stored when it resolves; a repeated one is stored once. Never rejects: a stage must
 * not fail because its report failed.
 */
export type Report = (outcome: StageOutcome) => Promise<void>;

/** Whether all failures of an attempt are infrastructure failures. */
export const isOutage = ({ failures }: Pick<StageOutcome, 'failures'>): boolean =>
  failures.length > 0 && failures.every(({ cause }) => cause === 'infrastructure');

/** A failed model call as a finding. */
export const outageOf = ({ kind, message }: Failure): Finding => ({
  cause: 'infrastructure',
  reason: kind,
  detail: message,
});
