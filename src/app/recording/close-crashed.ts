import type { Store } from '../../core/store.ts';

/** Ends the turns that a dead process left open, as `crashed`: neither success nor failure. Returns their number. */
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
