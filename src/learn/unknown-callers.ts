import { createLruMap } from '../base/lru-map.ts';
import { mayTeach, PRACTICE } from '../core/caller.ts';
import type { StoredFact } from '../core/fact.ts';

const MOST_OPEN = 10_000;

interface UnknownCallers {
  add(stored: StoredFact): void;
  /** Turns since the start whose caller nobody knows: they are not learned from. */
  count(): number;
}

/** A caller with its own credential is known when its provider has accepted it, at the end of the turn. */
export function createUnknownCallers(from: number): UnknownCallers {
  const open = createLruMap<string, true>(MOST_OPEN);
  let count = 0;
  return {
    add: ({ at, fact }) => {
      if (at < from) return;
      if (
        fact.type === 'turn-start' &&
        fact.role !== 'aux' &&
        fact.caller !== PRACTICE &&
        !mayTeach(fact.caller)
      )
        open.set(fact.turn, true);
      if (fact.type !== 'turn-end' || open.get(fact.turn) === undefined) return;
      if (fact.caller === undefined && fact.status === 'complete') count++;
    },
    count: () => count,
  };
}
