import type { AsyncStore, Store } from '../../core/store.ts';

/** A store that answers at once, in the form of one that takes its time. Rejects with what the store throws. */
export function toAsyncStore(store: Store): AsyncStore {
  const later =
    <Args extends readonly unknown[], T>(work: (...args: Args) => T) =>
    async (...args: Args): Promise<T> =>
      work(...args);
  return {
    facts: later(store.facts),
    factsOf: later(store.factsOf),
    newestOf: later(store.newestOf),
    recalls: later(store.recalls),
    sampled: later(store.sampled),
    events: later(store.events),
    sessions: later(store.sessions),
    session: later(store.session),
    ids: later(store.ids),
    turns: later(store.turns),
    turn: later(store.turn),
    openTurns: later(store.openTurns),
    rewards: later(store.rewards),
    judgements: later(store.judgements),
    block: later(store.block),
    chains: later(store.chains),
    totals: later(store.totals),
    check: later(store.check),
    append: later(store.append),
    erase: later(store.erase),
    expire: later(store.expire),
    rebuild: later(store.rebuild),
    snapshot: later(store.snapshot),
    endCrashed: later((at) => endCrashedTurns(store, at)),
    close: later(store.close),
  };
}

/** The end of a turn that a dead process left open. */
export const crashOf = (turn: string, at: number) => ({
  at,
  key: `${turn}:end`,
  fact: { type: 'turn-end', turn, status: 'crashed', httpStatus: 0, totalMs: 0 } as const,
});

/** The only writer of a store opens it: all open turns are those of a dead process. */
function endCrashedTurns(store: Store, at: number): number {
  const facts = store.openTurns().map((turn) => crashOf(turn, at));
  if (facts.length > 0) store.append({ facts });
  return facts.length;
}
