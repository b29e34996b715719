import type { Store } from '../../core/store.ts';

/** Turns that a dead process left open get their end: they are neither a success nor a failure, only over. */
export function closeCrashed(store: Store, at: number): number {
  const open = store.openTurns();
  const facts = open.map((turn) => ({
    at,
    key: `${turn}:end`,
    fact: { type: 'turn-end', turn, status: 'crashed', httpStatus: 0, totalMs: 0 } as const,
  }));
  if (facts.length > 0) store.append({ facts });
  return facts.length;
}
