import type { Appraisal, Signal, TurnEvidence } from '../core/evidence.ts';
import { composeReward } from './compose-reward.ts';
import { digestError } from './digest/digest-error.ts';
import { readAttempts, readGiven } from './given-signals.ts';
import { findInfrastructure } from './infrastructure-signal.ts';
import { findMalformedCall } from './malformed-signal.ts';
import { readTurn, type TurnReading } from './read-turn.ts';
import { findCutReply, findEmptyReply, findRefusal } from './reply-signals.ts';
import { findRetry } from './retry-signal.ts';
import { findGreenChecks, findRedChecks, findToolFailure, findToolSuccess } from './tool-signals.ts';
import { findUserCorrection, findUserThanks } from './user-signals.ts';

/** Each heuristic maps a turn to a signal, or to nothing. A new heuristic is a line here. */
const HEURISTICS: readonly ((turn: TurnReading) => Signal | undefined)[] = [
  findInfrastructure,
  findToolFailure,
  findRedChecks,
  findGreenChecks,
  findToolSuccess,
  findRetry,
  findMalformedCall,
  findRefusal,
  findCutReply,
  findEmptyReply,
  findUserCorrection,
  findUserThanks,
  readAttempts,
];
const MAX_DIGESTS = 8;
const ENDED_BADLY = new Set(['fault', 'red', 'outage']);

/** Decides how a turn went from all its evidence. Pure: the same evidence gives the same appraisal. */
export function appraise(evidence: TurnEvidence): Appraisal {
  const turn = readTurn(evidence);
  // A title or a compaction is the client's own request: the next message does not react to it.
  const isAppraised = evidence.role !== 'aux';
  const seen = isAppraised ? HEURISTICS.flatMap((find) => find(turn) ?? []) : [];
  const signals = [...readGiven(turn), ...seen];
  return { turn: evidence.turn, ...composeReward(signals), signals, digests: digestsOf(turn, signals) };
}

function digestsOf({ evidence, calls }: TurnReading, signals: readonly Signal[]): readonly string[] {
  const results = calls.flatMap(({ outcome }) =>
    outcome && ENDED_BADLY.has(outcome.kind) ? [outcome.text] : [],
  );
  const attempts = evidence.attempts.flatMap(({ ok, result }) => (ok ? [] : [result]));
  const isCorrected = signals.some(({ name }) => name === 'user-corrected');
  const pasted = isCorrected ? [evidence.next?.user ?? ''] : [];
  return [...new Set([...results, ...attempts, ...pasted].flatMap(digestError))].slice(0, MAX_DIGESTS);
}
