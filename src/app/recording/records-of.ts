import type { Records } from '../../core/records.ts';
import { type Store, StoreError } from '../../core/store.ts';

/** `Records` over a store in the same thread, for commands that run without a daemon. */
export function recordsOf(store: Store, now: () => number): Records {
  const run = async <T>(work: () => T): Promise<T> => {
    try {
      return work();
    } catch (error) {
      throw error instanceof StoreError ? error : new StoreError('io', String(error), { cause: error });
    }
  };
  return {
    facts: (...args) => run(() => store.facts(...args)),
    factsOf: (...args) => run(() => store.factsOf(...args)),
    events: (...args) => run(() => store.events(...args)),
    recalls: (...args) => run(() => store.recalls(...args)),
    sampled: (...args) => run(() => store.sampled(...args)),
    sessions: (...args) => run(() => store.sessions(...args)),
    session: (...args) => run(() => store.session(...args)),
    turns: (...args) => run(() => store.turns(...args)),
    turn: (...args) => run(() => store.turn(...args)),
    openTurns: () => run(() => store.openTurns()),
    rewards: (...args) => run(() => store.rewards(...args)),
    block: (...args) => run(() => store.block(...args)),
    chains: (...args) => run(() => store.chains(...args)),
    totals: () => run(() => store.totals()),
    check: () => run(() => store.check()),
    append: (facts, blocks = []) => run(() => store.append({ facts, blocks })),
    erase: (session, reason) => run(() => store.erase(session, now(), reason)),
    snapshot: (file) => run(() => store.snapshot(file)),
  };
}
