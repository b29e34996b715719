import type { Signal } from '../../core/evidence.ts';
import type { ToolCallReading, TurnReading } from '../turn-reading.ts';
import { isAskedFor, isExpectedRed } from './tool-signals.ts';

/** The last call whose result tells something: later ones only read. */
export const lastTelling = (calls: readonly ToolCallReading[]): ToolCallReading | undefined =>
  calls.findLast(({ outcome }) => outcome !== undefined && outcome.kind !== 'unclear');

/**
 * The state in which the agent stopped: the last result before a reply that makes no further call. A check that still fails, or
 * an edit that was never made, is a failure whatever the reply claims; passing checks are a success.
 */
export function findClosingState(turn: TurnReading): Signal | undefined {
  const { answered, calls, evidence } = turn;
  if (calls.length > 0) return undefined;
  const last = lastTelling(answered);
  const kind = last?.outcome?.kind;
  const reason = `${last?.part.name}: ${last?.outcome?.reason}`;
  const isLast = last === answered.at(-1);
  if (kind === 'red' && !isExpectedRed({ ...turn, calls: answered }))
    return { name: 'stopped-failing', source: 'signal', score: 0.1, weight: 1, reason };
  // What was tried in vain and then done in another way is no failure.
  if (kind === 'fault' && isLast && !isAskedFor(evidence.task))
    return { name: 'stopped-failing', source: 'signal', score: 0.2, weight: 0.8, reason };
  if (kind === 'green') return { name: 'stopped-passing', source: 'signal', score: 0.9, weight: 1, reason };
  // An edit or an act that was done need not be the one that was wanted; what the user says next may be about it.
  const isAct = last?.view.kind === 'edit' || last?.view.kind === 'other';
  const isUnproved = isAct && evidence.next?.user !== undefined;
  if (kind === 'ok' && !isUnproved)
    return { name: 'stopped-ok', source: 'signal', score: 0.7, weight: 0.4, reason };
  return undefined;
}
