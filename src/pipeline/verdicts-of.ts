import { compact } from '../core/json.ts';
import type { Cause, Finding, StageOutcome } from './stage-outcome.ts';

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

interface Weighed extends Finding {
  readonly score: number;
}

/**
 * The verdicts on the turns of an attempt: the reasons for each turn that was sent back or refused, and an acceptance of
 * the last turn. None for an outage, and none when no model was called.
 */
export function verdictsOf({
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
  cause: Cause,
  subject: { readonly turn?: string; readonly session?: string },
): readonly StageVerdict[] {
  const told = found.filter((finding) => finding.cause === cause);
  if (told.length === 0) return [];
  const source = cause === 'thrown' ? ('agent' as const) : undefined;
  const note = [...new Set(told.map(({ reason }) => reason))].join('\n').slice(0, LONGEST_NOTE);
  return [compact({ ...subject, score: Math.min(...told.map(({ score }) => score)), note, source })];
}
