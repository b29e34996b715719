import { hash } from 'node:crypto';
import type { Failure } from '../core/failure.ts';
import { compact } from '../core/json.ts';

/**
 * The cause of a finding. `work`: the pipeline's own check, whose text may become an instruction. `thrown`: an exception
 * ended the attempt; its message may quote a page or a tool, so it is a signal and never an instruction.
 * `infrastructure` (limits, time-outs, resets, aborts, a failed model call): it says nothing about the work.
 */
export type FindingCause = 'work' | 'thrown' | 'infrastructure';

/** One finding about a stage. */
export interface StageFinding {
  readonly cause: FindingCause;
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
  readonly failures: readonly StageFinding[];
  /** The findings of each refine cycle. */
  readonly refines: readonly (readonly StageFinding[])[];
  readonly warnings: readonly StageFinding[];
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
export type StageReport = (outcome: StageOutcome) => Promise<void>;

/** Whether all failures of an attempt are infrastructure failures. */
export const isOutage = ({ failures }: Pick<StageOutcome, 'failures'>): boolean =>
  failures.length > 0 && failures.every(({ cause }) => cause === 'infrastructure');

/** A failed model call as a finding. */
export const outageOf = ({ kind, message }: Failure): StageFinding => ({
  cause: 'infrastructure',
  reason: kind,
  detail: message,
});

/** A stage's verdict on one of its turns, as the body of `POST /v1/feedback`. */
export interface StageVerdict {
  /** A turn, or the whole session when the stage named no turn. */
  readonly turn?: string;
  readonly session?: string;
  /** −1 to 1. */
  readonly score: number;
  /** What must change. */
  readonly note?: string;
  /** `agent`: untrusted, never an instruction. Absent: the pipeline's own verdict. */
  readonly source?: 'agent';
}

const REFUSED = -1;
const WARNED = -0.5;
const ACCEPTED = 1;
/** The gateway's limit. */
const LONGEST_NOTE = 4000;

interface Weighed extends StageFinding {
  readonly score: number;
}

/**
 * The verdicts on the turns of an attempt: the reasons for each turn that was sent back or refused, and an acceptance of
 * the last turn. None for an outage, and none when no model was called.
 */
export function stageVerdicts({
  status,
  failures,
  refines,
  warnings,
  session,
  turns,
}: StageOutcome): readonly StageVerdict[] {
  const last = turns.at(-1);
  if (last === undefined) return [];
  const found: readonly Weighed[] = [
    ...[...refines.flat(), ...failures].map((finding) => ({ ...finding, score: REFUSED })),
    ...warnings.map((finding) => ({ ...finding, score: WARNED })),
  ];
  const subjects = new Set(found.map(({ turn }) => turn));
  const verdicts = [...subjects].flatMap((turn) => {
    const about = found.filter((finding) => finding.turn === turn);
    const subject = turn === undefined ? { session } : { turn };
    return (['work', 'thrown'] as const).flatMap((cause) => verdictOf(about, cause, subject));
  });
  const isAccepted = status !== 'failed' && !subjects.has(last) && !subjects.has(undefined);
  return isAccepted ? [...verdicts, { turn: last, score: ACCEPTED }] : verdicts;
}

function verdictOf(
  found: readonly Weighed[],
  cause: FindingCause,
  subject: { readonly turn?: string; readonly session?: string },
): readonly StageVerdict[] {
  const told = found.filter((finding) => finding.cause === cause);
  if (told.length === 0) return [];
  const source = cause === 'thrown' ? ('agent' as const) : undefined;
  const note = [...new Set(told.map(({ reason }) => reason))].join('\n').slice(0, LONGEST_NOTE);
  return [compact({ ...subject, score: Math.min(...told.map(({ score }) => score)), note, source })];
}

/** The idempotency key of an attempt: reports with the same key count once. */
export const outcomeKey = ({ pipeline, run, stage, attempt }: StageOutcome): string =>
  hash('sha256', JSON.stringify([pipeline, run, stage, attempt]), 'hex').slice(0, 40);
