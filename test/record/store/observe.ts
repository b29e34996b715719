import type { StoreReader } from '../../../src/core/store.ts';
import { formatTurnBodyKey } from '../../../src/core/store.ts';
import { HASHES, SESSIONS, TURNS } from './arbitraries.ts';

/** The results of all queries of a store, except its size: stores with equal results are equivalent. */
export function observe(store: StoreReader): unknown {
  const { bytes: _, ...totals } = store.totals();
  return { ...observeViews(store), facts: store.facts(0, Number.POSITIVE_INFINITY), totals };
}

export const observeViews = (store: StoreReader) => ({
  sessions: store.sessions({ limit: 1_000 }),
  bySession: SESSIONS.map((id) => [
    store.session(id),
    store.turns(id),
    store.rewards({ session: id }),
    store.sampled(id),
  ]),
  byTurn: TURNS.map((id) => [
    store.turn(id),
    store.rewards({ turn: id }),
    store.block(formatTurnBodyKey({ turn: id, part: 'request' })),
    store.block(formatTurnBodyKey({ turn: id, part: 'reply' })),
  ]),
  open: store.openTurns(),
  blocks: HASHES.map((hash) => store.block(hash)),
  chains: store.chains(1_000),
});
