import { createLruMap } from './lru-map.ts';

/** Whether it is worth waiting for something. After a few waits in vain for one name it is not, for a while. */
export interface Patience {
  isWorthIt(name: string): boolean;
  note(name: string, isFound: boolean): void;
}

const MOST_NAMES = 1_000;
const MOST_VAIN = 2;
const REST_MS = 600_000;

export function createPatience(monotonic: () => number): Patience {
  const vain = createLruMap<string, { readonly times: number; readonly until: number }>(MOST_NAMES);
  return {
    isWorthIt: (name) => {
      const known = vain.get(name);
      return known === undefined || known.times < MOST_VAIN || monotonic() >= known.until;
    },
    note: (name, isFound) => {
      const times = isFound ? 0 : (vain.get(name)?.times ?? 0) + 1;
      vain.set(name, { times, until: monotonic() + REST_MS });
    },
  };
}
