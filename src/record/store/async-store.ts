import type { AsyncReads, AsyncStore, Store, StoreReader } from '../../core/store.ts';
import { crashKey } from './ledger.ts';

const later =
  <Args extends readonly unknown[], T>(work: (...args: Args) => T) =>
  async (...args: Args): Promise<T> =>
    work(...args);

/** The same reads as promises. Each rejects with what the store throws. */
export const toAsyncReads = (reader: StoreReader): AsyncReads => ({
  facts: later(reader.facts),
  factsOf: later(reader.factsOf),
  newestOf: later(reader.newestOf),
  recalls: later(reader.recalls),
  sampled: later(reader.sampled),
  events: later(reader.events),
  sessions: later(reader.sessions),
  session: later(reader.session),
  ids: later(reader.ids),
  turns: later(reader.turns),
  turn: later(reader.turn),
  openTurns: later(reader.openTurns),
  rewards: later(reader.rewards),
  judgements: later(reader.judgements),
  block: later(reader.block),
  chains: later(reader.chains),
  totals: later(reader.totals),
  check: later(reader.check),
});

/** A store that answers at once, in the form of one that takes its time. */
export const toAsyncStore = (store: Store): AsyncStore => ({
  ...toAsyncReads(store),
  append: later(store.append),
  erase: later(store.erase),
  expire: later(store.expire),
  rebuild: later(store.rebuild),
  snapshot: later(store.snapshot),
  endCrashed: later((at) => endCrashedTurns(store, at)),
  close: later(store.close),
});

/** The end of a turn that a dead process left open. */
export const crashOf = (turn: string, at: number) => ({
  at,
  key: crashKey(turn),
  fact: { type: 'turn-end', turn, status: 'crashed', httpStatus: 0, totalMs: 0 } as const,
});

/** The only writer of a store opens it: all open turns are those of a dead process. */
function endCrashedTurns(store: Store, at: number): number {
  const facts = store.openTurns().map((turn) => crashOf(turn, at));
  if (facts.length > 0) store.append({ facts });
  return facts.length;
}
