import type { Failure } from '../core/failure.ts';

/**
 * Why a finding was made. `work`: the pipeline's own check spoke, and its words may become an instruction. `thrown`: an
 * exception ended the try; its message may quote a page or a tool, so it is a sign and never an instruction.
 * `infrastructure` (limits, time-outs, resets, aborts, a model call that failed): it says nothing about the work.
 */
export type Cause = 'work' | 'thrown' | 'infrastructure';

/** One thing that was found about a stage. */
export interface Finding {
  readonly cause: Cause;
  /** What has to be different, in the pipeline's own words: the same mistake has the same reason. */
  readonly reason: string;
  /** What was seen this time. Kept for people; nothing is learned from its words. */
  readonly detail?: string;
  /** The turn that it is about, as the gateway named it; absent where no model was asked. */
  readonly turn?: string;
}

/** `warned`: it ended well, and something was found on the way. */
export type StageStatus = 'ok' | 'warned' | 'failed';

/** One attempt at one stage, when it is over. `pipeline`, `run`, `stage` and `attempt` name it. */
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
  /** For each refine cycle why it was needed. */
  readonly refines: readonly (readonly Finding[])[];
  readonly warnings: readonly Finding[];
  readonly durationMs: number;
  /** The conversation of this attempt. */
  readonly session: string;
  /** The turns of it that the stage told of, in order. */
  readonly turns: readonly string[];
}

/**
 * Where outcomes go. When it resolves the outcome is kept; the same outcome again is kept once. It never rejects: a stage
 * must not fail because nobody could write down how it went.
 */
export type Report = (outcome: StageOutcome) => Promise<void>;

/** Whether an attempt failed for nothing but reasons that say nothing about the work. */
export const isOutage = ({ failures }: Pick<StageOutcome, 'failures'>): boolean =>
  failures.length > 0 && failures.every(({ cause }) => cause === 'infrastructure');

/** A model call that failed, as a finding. */
export const outageOf = ({ kind, message }: Failure): Finding => ({
  cause: 'infrastructure',
  reason: kind,
  detail: message,
});
