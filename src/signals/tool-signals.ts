import type { Signal } from '../core/evidence.ts';
import { isLooking } from './is-looking.ts';
import type { OutcomeKind } from './read-outcome.ts';
import type { MadeCall, TurnReading } from './read-turn.ts';

/** A call was wrong. */
export function findToolFailure({ calls }: TurnReading): Signal | undefined {
  const [first, ...more] = ofKind(calls, 'fault');
  if (first === undefined) return undefined;
  return { name: 'tool-failed', source: 'signal', score: 0, weight: 1, reason: describe(first, more.length) };
}

/** Tests, a build or a program failed, and the failure was not expected. */
export function findRedChecks(turn: TurnReading): Signal | undefined {
  const [first, ...more] = ofKind(turn.calls, 'red');
  if (first === undefined || isLooking(turn)) return undefined;
  return {
    name: 'checks-failed',
    source: 'signal',
    score: 0.1,
    weight: 1,
    reason: describe(first, more.length),
  };
}

export function findGreenChecks({ calls }: TurnReading): Signal | undefined {
  const [first, ...more] = ofKind(calls, 'green');
  if (first === undefined) return undefined;
  return {
    name: 'checks-passed',
    source: 'signal',
    score: 0.9,
    weight: 1,
    reason: describe(first, more.length),
  };
}

/** The tool reports success. It does not show that the call was the right one, so the weight is small. */
export function findToolSuccess({ calls }: TurnReading): Signal | undefined {
  const [first, ...more] = ofKind(calls, 'ok');
  if (first === undefined) return undefined;
  return { name: 'tool-ok', source: 'signal', score: 0.7, weight: 0.4, reason: describe(first, more.length) };
}

const ofKind = (calls: readonly MadeCall[], kind: OutcomeKind): readonly MadeCall[] =>
  calls.filter(({ outcome }) => outcome?.kind === kind);

const describe = ({ part, outcome }: MadeCall, more: number): string =>
  `${part.name}: ${outcome?.reason ?? ''}${more > 0 ? ` (and ${more} more)` : ''}`;
