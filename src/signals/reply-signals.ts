import type { Signal } from '../core/evidence.ts';
import type { TurnReading } from './read-turn.ts';
import { isHarmful, isRefusal } from './refusal-words.ts';

/** The agent refused a harmless request. */
export function findRefusal({ evidence, said, calls }: TurnReading): Signal | undefined {
  const isFiltered = evidence.stop === 'filter';
  const isRefused = calls.length === 0 && isRefusal(said);
  if ((!isFiltered && !isRefused) || isHarmful(evidence.task)) return undefined;
  const reason = isFiltered ? "stopped by the provider's filter" : 'the agent refused';
  return { name: 'refused', source: 'signal', score: 0, weight: 1.5, reason };
}

/** The reply ended at its token limit, so an answer or a call is incomplete. */
export function findCutReply({ evidence }: TurnReading): Signal | undefined {
  if (evidence.stop !== 'length') return undefined;
  return {
    name: 'cut-short',
    source: 'signal',
    score: 0.2,
    weight: 1,
    reason: 'the reply hit its length limit',
  };
}

/** The reply has neither text nor calls. */
export function findEmptyReply({ evidence, said, calls }: TurnReading): Signal | undefined {
  const isOver = evidence.status === 'complete' && (evidence.stop === undefined || evidence.stop === 'end');
  if (!isOver || said !== '' || calls.length > 0) return undefined;
  return { name: 'empty-reply', source: 'signal', score: 0, weight: 1.5, reason: 'the reply is empty' };
}
