import type { AsyncReads, StoreReader } from '../../../src/core/store.ts';
import { formatTurnBodyKey } from '../../../src/core/store.ts';
import { HASHES, SESSIONS, TURNS } from './arbitraries.ts';

/** The results of all queries of a store, except its size: stores with equal results are equivalent. */
export async function observe(store: AsyncReads | StoreReader): Promise<object> {
  const { bytes: _, ...totals } = await store.totals();
  const facts = await store.facts(0, Number.POSITIVE_INFINITY);
  return { ...(await observeViews(store)), facts, totals };
}

export async function observeViews(store: AsyncReads | StoreReader): Promise<object> {
  const bySession: unknown[] = [];
  for (const id of SESSIONS)
    bySession.push([
      await store.session(id),
      await store.turns(id),
      await store.rewards({ session: id }),
      await store.sampled(id),
    ]);
  const byTurn: unknown[] = [];
  for (const id of TURNS)
    byTurn.push([
      await store.turn(id),
      await store.rewards({ turn: id }),
      await store.block(formatTurnBodyKey({ turn: id, part: 'request' })),
      await store.block(formatTurnBodyKey({ turn: id, part: 'reply' })),
    ]);
  const blocks: unknown[] = [];
  for (const hash of HASHES) blocks.push(await store.block(hash));
  return {
    sessions: await store.sessions({ limit: 1_000 }),
    bySession,
    byTurn,
    open: await store.openTurns(),
    blocks,
    chains: await store.chains(1_000),
  };
}
