import type { StoredFact } from '../core/fact.ts';
import type { SessionRow, TurnRow } from './fold.ts';
import type { Tables } from './tables.ts';

export interface RewardRow {
  readonly seq: number;
  readonly turn: string | undefined;
  readonly session: string | undefined;
}

/** The data of `Tables`, for the memory store to read. Maps are in insertion order. */
export interface MemoryTables extends Tables {
  /** Fact number N is at index N − 1. */
  readonly log: readonly StoredFact[];
  readonly keys: ReadonlyMap<string, number>;
  readonly sessions: ReadonlyMap<string, SessionRow>;
  readonly turns: ReadonlyMap<string, TurnRow>;
  readonly rewards: readonly RewardRow[];
  readonly blocks: ReadonlyMap<string, { readonly text: string; readonly sessions: ReadonlySet<string> }>;
  /** Turn bodies by the number of their fact. */
  readonly bodies: ReadonlyMap<number, string>;
  readonly chains: ReadonlyMap<string, string>;
}

export function createMemoryTables(): MemoryTables {
  const log: StoredFact[] = [];
  const keys = new Map<string, number>();
  const sessions = new Map<string, SessionRow>();
  const turns = new Map<string, TurnRow>();
  const rewards: RewardRow[] = [];
  const blocks = new Map<string, { text: string; sessions: Set<string> }>();
  const bodies = new Map<number, string>();
  const chains = new Map<string, string>();
  return {
    log,
    keys,
    sessions,
    turns,
    rewards,
    blocks,
    bodies,
    chains,

    lastSeq: () => log.length,
    seqOf: (key) => keys.get(key),
    addFact: (stored, body, key) => {
      // Through JSON, like on disk.
      log.push({ ...stored, fact: { type: stored.fact.type, ...JSON.parse(body) } });
      if (key !== undefined) keys.set(key, stored.seq);
    },
    facts: (after, limit) => log.slice(Math.max(0, after), Math.max(0, after) + Math.max(0, limit)),
    factsAbout: () => log,
    overwriteFact: (stored) => {
      log[stored.seq - 1] = stored;
    },

    session: (id) => sessions.get(id),
    putSession: (row) => void sessions.set(row.id, row),
    turn: (id) => turns.get(id),
    turnsOf: (session) => [...turns.values()].filter((row) => row.session === session),
    putTurn: (row) => void turns.set(row.id, row),
    addReward: (seq, turn, session) => void rewards.push({ seq, turn, session }),
    clearViews: () => {
      sessions.clear();
      turns.clear();
      rewards.length = 0;
    },
    // The sort is stable: of equal times, the one inserted first.
    sessionsBefore: (lastAt, limit) =>
      [...sessions.values()]
        .filter((row) => !row.erased && row.lastAt < lastAt)
        .sort((a, b) => a.lastAt - b.lastAt)
        .slice(0, Math.max(0, limit))
        .map(({ id }) => id),

    addBody: (seq, text) => {
      if (!bodies.has(seq)) bodies.set(seq, wellFormed(text));
    },
    dropBodies: (facts) => {
      for (const seq of facts) bodies.delete(seq);
    },
    addBlock: ({ hash, text, session }) => {
      const block = blocks.get(hash);
      if (block !== undefined) block.sessions.add(session);
      else if (text !== undefined) blocks.set(hash, { text: wellFormed(text), sessions: new Set([session]) });
    },
    dropBlocks: (session) => {
      for (const [hash, { sessions: users }] of blocks)
        if (users.delete(session) && users.size === 0) blocks.delete(hash);
    },
    putChain: (session, link) => {
      chains.delete(session);
      chains.set(session, link);
    },
    dropChain: (session) => void chains.delete(session),
  };
}

/** Through UTF-8, like on disk. */
const wellFormed = (text: string): string => Buffer.from(text).toString();
