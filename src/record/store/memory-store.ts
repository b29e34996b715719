import type { StoredFact } from '../../core/fact.ts';
import { isAttemptId, principalOfSession } from '../../core/principal.ts';
import {
  parseTurnBodyKey,
  type SessionQuery,
  type SessionView,
  type Store,
  StoreError,
  type StoreReader,
  type TurnView,
} from '../../core/store.ts';
import { matchesIdPattern } from '../../text/short-id.ts';
import { writeSnapshotFile } from '../snapshots.ts';
import { removeLog } from './compaction.ts';
import { expireSessions, readBatch, rebuildViews, recordBatch, recordErasure } from './ledger.ts';
import { connectWriter } from './open-database.ts';
import { factJson } from './sqlite-rows.ts';
import { createSqliteTables } from './sqlite-tables.ts';
import type { Tables } from './tables.ts';
import {
  REPORTED_TYPES,
  type SessionRow,
  subjectOf,
  type TurnRow,
  viewReward,
  viewSession,
  viewTurn,
} from './views.ts';

/** A store in memory with the same contract as the one on disk. */
export function createMemoryStore(): Store {
  const tables = createMemoryTables();
  let isOpen = true;
  const refuseClosed = (): void => {
    if (!isOpen) throw new StoreError('closed', 'the store is closed');
  };
  const operations: Omit<Store, 'close'> = {
    // Only `readBatch` can throw, and it comes first: all or nothing.
    append: (batch) => recordBatch(tables, readBatch(batch)),
    erase: (session, at, reason) => recordErasure(tables, session, at, reason),
    expire: (before, at, limit, upTo) => expireSessions(tables, { before, at, upTo }, limit),
    rebuild: () => rebuildViews(tables),
    snapshot: (file) => writeSnapshotFile(file, (temporary) => copyToFile(tables, temporary)),
    ...createMemoryReads(tables),
  };
  return {
    ...withCheck(operations, refuseClosed),
    close: () => {
      isOpen = false;
    },
  };
}

/** The same functions, each of which calls `check` first. */
const withCheck = <T extends Readonly<Record<keyof T, Operation>>>(operations: T, check: () => void): T =>
  Object.fromEntries(
    Object.entries<Operation>(operations).map(([name, run]) => [
      name,
      (...args: never[]) => {
        check();
        return run(...args);
      },
    ]),
  ) as T;

type Operation = (...args: never[]) => unknown;

function createMemoryReads(tables: MemoryTables): StoreReader {
  const factAt = (seq: number | undefined) => (seq === undefined ? undefined : tables.log[seq - 1]);
  const toSession = (row: SessionRow): SessionView => viewSession(row, factAt(row.projectFrom));
  const toTurn = (row: TurnRow): TurnView | undefined => viewTurn(row, factAt(row.start), factAt(row.end));
  return {
    facts: tables.facts,
    factsOf: (type, after, limit) =>
      tables.log.filter(({ seq, fact }) => seq > after && fact.type === type).slice(0, Math.max(0, limit)),
    newestOf: (type, limit) =>
      limit <= 0 ? [] : tables.log.filter(({ fact }) => fact.type === type).slice(-limit),
    events: (subject) =>
      tables.log.filter(
        ({ fact }) =>
          (REPORTED_TYPES as readonly string[]).includes(fact.type) && subjectOf(fact) === subject,
      ),
    recalls: (session) =>
      tables.log.filter(
        ({ fact }) =>
          (fact.type === 'lessons-recalled' || fact.type === 'overlays-applied') && fact.session === session,
      ),
    sampled: (session) =>
      tables.log.filter(({ fact }) => fact.type === 'turn-sampled' && fact.session === session),
    sessions: (query) => selectSessions(tables, query).map(toSession),
    session: (id) => {
      const row = tables.sessions.get(id);
      return row && toSession(row);
    },
    ids: (of, pattern, limit) =>
      [...tables[of].keys()]
        .filter((id) => matchesIdPattern(id, pattern))
        .sort()
        .slice(0, Math.max(0, limit)),
    turns: (session, page) => {
      const rows = tables.turnsOf(session);
      const { limit = rows.length, fromEnd = false } = page ?? {};
      const wanted = fromEnd
        ? rows.slice(Math.max(0, rows.length - limit))
        : rows.slice(0, Math.max(0, limit));
      return wanted.flatMap((row) => toTurn(row) ?? []);
    },
    turn: (id) => {
      const row = tables.turns.get(id);
      return row && toTurn(row);
    },
    openTurns: () => [...tables.turns.values()].filter(({ end }) => end === undefined).map(({ id }) => id),
    rewards: (of) =>
      tables.rewards
        .filter((row) =>
          'turn' in of
            ? row.turn === of.turn
            : 'session' in of
              ? isOfWhole(row, of.session)
              : tables.turns.get(row.turn ?? '')?.session === of.turnsOf,
        )
        .flatMap(({ seq }) => factAt(seq) ?? [])
        .flatMap((stored) => viewReward(stored) ?? []),
    judgements: (session, type) =>
      tables.log.filter(({ fact }) => fact.type === type && subjectOf(fact) === session),
    block: (name) => bodyNamed(tables, name) ?? tables.blocks.get(name)?.text,
    chains: (limit) =>
      [...tables.chains]
        .reverse()
        .slice(0, Math.max(0, limit))
        .map(([session, link]) => ({ session, link })),
    totals: () => ({
      facts: tables.log.length,
      sessions: tables.sessions.size,
      turns: tables.turns.size,
      blocks: tables.blocks.size,
      bytes: 0,
    }),
    check: () => [],
  };
}

function selectSessions(
  tables: MemoryTables,
  { limit, before, from = 0, to = Infinity, agent, project, member, withoutPractice }: SessionQuery,
): readonly SessionRow[] {
  const wanted = [...tables.sessions.values()]
    .reverse()
    .filter((row) => before === undefined || row.lastAt < before)
    .filter(({ startedAt, lastAt }) => lastAt >= from && startedAt < to)
    .filter((row) => agent === undefined || row.agent === agent)
    .filter((row) => project === undefined || row.project === project)
    .filter(({ id }) => member === undefined || principalOfSession(id) === member)
    .filter(({ id }) => withoutPractice !== true || !isAttemptId(id))
    .sort((a, b) => b.lastAt - a.lastAt);
  // A page continues past its limit while sessions share the last one's time, as on disk.
  const last = wanted[Math.min(limit, wanted.length) - 1];
  return wanted.filter((row) => last !== undefined && row.lastAt >= last.lastAt);
}

/** A reward with a turn belongs to that turn, not to the session it also names. */
const isOfWhole = (row: RewardRow, session: string): boolean =>
  row.session === session && row.turn === undefined;

function bodyNamed({ turns, bodies }: MemoryTables, name: string): string | undefined {
  const own = parseTurnBodyKey(name);
  const row = own && turns.get(own.turn);
  const seq = own?.part === 'request' ? row?.start : row?.end;
  return seq === undefined ? undefined : bodies.get(seq);
}

/** A snapshot of a memory store is an SQLite store, too. */
function copyToFile({ log, keys, blocks, bodies, chains }: MemoryTables, file: string): void {
  const sql = connectWriter(file);
  try {
    const tables = createSqliteTables(sql);
    const keyOf = new Map([...keys].map(([key, seq]) => [seq, key]));
    sql.transaction(() => {
      for (const stored of log)
        tables.addFact(stored, {
          body: factJson(stored.fact),
          key: keyOf.get(stored.seq),
          isInView: false,
        });
      for (const [seq, text] of bodies) tables.addBody(seq, text, false);
      for (const [hash, { text, sessions }] of blocks)
        for (const session of sessions) tables.addBlock({ hash, text, session }, false);
      for (const [session, link] of chains) tables.putChain(session, link);
      rebuildViews(tables);
    });
    removeLog(sql);
  } finally {
    sql.close();
  }
}

interface RewardRow {
  readonly seq: number;
  readonly turn: string | undefined;
  readonly session: string | undefined;
}

/** The data of `Tables`, for the memory store to read. Maps are in insertion order. */
interface MemoryTables extends Tables {
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

function createMemoryTables(): MemoryTables {
  const log: StoredFact[] = [];
  const keys = new Map<string, number>();
  const sessions = new Map<string, SessionRow>();
  const turns = new Map<string, TurnRow>();
  const rewards: RewardRow[] = [];
  const shared = createMemoryBlocks();
  const bodies = new Map<number, string>();
  const chains = new Map<string, string>();
  return {
    log,
    keys,
    sessions,
    turns,
    rewards,
    ...shared,
    bodies,
    chains,

    lastSeq: () => log.length,
    seqOf: (key) => keys.get(key),
    addFact: (stored, { body, key }) => {
      // Through JSON, like on disk.
      log.push({ ...stored, fact: { type: stored.fact.type, ...JSON.parse(body) } });
      if (key !== undefined) keys.set(key, stored.seq);
    },
    facts: (after, limit) => log.slice(Math.max(0, after), Math.max(0, after) + Math.max(0, limit)),
    factsAbout: () => log,
    factsOf: (type) => log.filter(({ fact }) => fact.type === type),
    recallsOf: (lessons, after) =>
      log.filter(
        ({ seq, fact }) =>
          seq > after &&
          fact.type === 'lessons-recalled' &&
          [...fact.lessons, ...fact.considered.map(({ id }) => id)].some((id) => lessons.includes(id)),
      ),
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
    textsOf: (session) => textsIn({ log, turns, blocks: shared.blocks, bodies }, session),
    putChain: (session, link) => {
      chains.delete(session);
      chains.set(session, link);
    },
    dropChain: (session) => void chains.delete(session),
  };
}

/** Texts that several sessions may use. */
function createMemoryBlocks(): Pick<MemoryTables, 'blocks' | 'addBlock' | 'dropBlocks' | 'dropUse'> {
  const blocks = new Map<string, { text: string; sessions: Set<string> }>();
  return {
    blocks,
    addBlock: ({ hash, text, session }) => {
      const block = blocks.get(hash);
      if (block !== undefined) block.sessions.add(session);
      else if (text !== undefined) blocks.set(hash, { text: wellFormed(text), sessions: new Set([session]) });
    },
    dropBlocks: (session) => {
      for (const [hash, { sessions: users }] of blocks)
        if (users.delete(session) && users.size === 0) blocks.delete(hash);
    },
    dropUse: (session, hash) => {
      const block = blocks.get(hash);
      if (block?.sessions.delete(session) && block.sessions.size === 0) blocks.delete(hash);
    },
  };
}

function textsIn(
  { log, turns, blocks, bodies }: Pick<MemoryTables, 'log' | 'turns' | 'blocks' | 'bodies'>,
  session: string,
): readonly string[] {
  const shown = new Set(
    log.flatMap(({ fact }) =>
      fact.type === 'lessons-recalled' && fact.session === session ? [fact.block] : [],
    ),
  );
  const own = [...turns.values()].filter((row) => row.session === session);
  return [
    ...[...blocks].flatMap(([hash, { text, sessions }]) =>
      sessions.has(session) && !shown.has(hash) ? [text] : [],
    ),
    ...own.flatMap(({ start, end }) => [bodies.get(start), bodies.get(end ?? 0)]),
  ].filter((text) => text !== undefined);
}

/** Through UTF-8, like on disk. */
const wellFormed = (text: string): string => Buffer.from(text).toString();
