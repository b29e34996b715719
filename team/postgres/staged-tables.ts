import type { StoredFact } from '../../src/core/fact.ts';
import type { Block, FoldedType } from '../../src/core/store.ts';
import type { Tables } from '../../src/record/store/tables.ts';
import type { SessionRow, TurnRow } from '../../src/record/store/views.ts';

/** A row that a rule asked for and that is not loaded yet. */
export interface WantedRows {
  readonly keys: Set<string>;
  readonly sessions: Set<string>;
  readonly turns: Set<string>;
  readonly turnsOf: Set<string>;
  readonly factsAbout: Set<string>;
  readonly factsOf: Set<FoldedType>;
  readonly textsOf: Set<string>;
  /** By `recallKey`. */
  readonly recalls: Map<string, { readonly lessons: readonly string[]; readonly after: number }>;
}

/** What was read from the database in this transaction. `has` says that it was read, also if there is nothing. */
export interface LoadedRows {
  readonly keys: Map<string, number | undefined>;
  readonly sessions: Map<string, SessionRow | undefined>;
  readonly turns: Map<string, TurnRow | undefined>;
  readonly turnsOf: Map<string, readonly TurnRow[]>;
  readonly factsAbout: Map<string, readonly StoredFact[]>;
  readonly factsOf: Map<FoldedType, readonly StoredFact[]>;
  readonly textsOf: Map<string, readonly string[]>;
  readonly recalls: Map<string, readonly StoredFact[]>;
}

/** A change to the database, in the order in which the rules made it. */
export type RowChange =
  | {
      readonly op: 'fact';
      readonly stored: StoredFact;
      readonly body: string;
      readonly key: string | undefined;
      readonly isInView: boolean;
    }
  | { readonly op: 'overwrite'; readonly stored: StoredFact }
  | {
      readonly op: 'reward';
      readonly seq: number;
      readonly turn: string | undefined;
      readonly session: string | undefined;
    }
  | { readonly op: 'body'; readonly seq: number; readonly text: string; readonly isHurried: boolean }
  | { readonly op: 'drop-bodies'; readonly facts: readonly number[] }
  | { readonly op: 'block'; readonly block: Block; readonly isHurried: boolean }
  | { readonly op: 'drop-blocks'; readonly session: string }
  | { readonly op: 'drop-use'; readonly session: string; readonly hash: string }
  | { readonly op: 'chain'; readonly session: string; readonly link: string }
  | { readonly op: 'drop-chain'; readonly session: string };

/** What one run of the rules changed. Sessions and turns are written once, as they are at the end. */
export interface StagedChanges {
  readonly changes: readonly RowChange[];
  readonly sessions: ReadonlyMap<string, SessionRow>;
  readonly turns: ReadonlyMap<string, TurnRow>;
  readonly lastSeq: number;
}

interface StagedTables extends Tables {
  readonly wanted: WantedRows;
  staged(): StagedChanges;
}

export const noRows = (): LoadedRows => ({
  keys: new Map(),
  sessions: new Map(),
  turns: new Map(),
  turnsOf: new Map(),
  factsAbout: new Map(),
  factsOf: new Map(),
  textsOf: new Map(),
  recalls: new Map(),
});

const recallKey = (lessons: readonly string[], after: number): string => JSON.stringify([after, ...lessons]);

export const isWanting = (wanted: WantedRows): boolean =>
  Object.values(wanted).some(({ size }: { readonly size: number }) => size > 0);

const createWantedRows = (): WantedRows => ({
  keys: new Set(),
  sessions: new Set(),
  turns: new Set(),
  turnsOf: new Set(),
  factsAbout: new Set(),
  factsOf: new Set(),
  textsOf: new Set(),
  recalls: new Map(),
});

/**
 * The tables as the rules of `ledger` see them, over rows that were loaded before, with every change kept for later. The
 * rules are synchronous and a database answers later: what they ask for and is not loaded counts as missing, and is noted.
 * Then the rows are loaded and the rules run again from the beginning, until they ask for nothing more: as many round trips
 * as one question depends on another, for a usual batch one. The rules have no effects but these, so a run that lacked
 * something is forgotten without a trace.
 */
export function createStagedTables(loaded: LoadedRows, lastSeq: number): StagedTables {
  const wanted = createWantedRows();
  const changes: RowChange[] = [];
  const keys = new Map<string, number>();
  const sessions = new Map<string, SessionRow>();
  const turns = new Map<string, TurnRow>();
  const added: StoredFact[] = [];
  const overwritten = new Map<number, StoredFact>();
  /** Sessions whose texts were dropped. */
  const silenced = new Set<string>();
  let seq = lastSeq;

  const read = <Key, Row>(from: ReadonlyMap<Key, Row>, key: Key, want: Set<Key>): Row | undefined => {
    if (!from.has(key)) want.add(key);
    return from.get(key);
  };
  /** As they are now: with this run's changes. */
  const current = (
    facts: readonly StoredFact[] | undefined,
    isOne: (stored: StoredFact) => boolean,
  ): readonly StoredFact[] =>
    [...(facts ?? []), ...added.filter(isOne)].map((stored) => overwritten.get(stored.seq) ?? stored);

  return {
    wanted,
    staged: () => ({ changes, sessions, turns, lastSeq: seq }),

    lastSeq: () => seq,
    seqOf: (key) => keys.get(key) ?? read(loaded.keys, key, wanted.keys),
    addFact: (stored, { body, key, isInView }) => {
      changes.push({ op: 'fact', stored, body, key, isInView });
      added.push(stored);
      seq = stored.seq;
      if (key !== undefined) keys.set(key, stored.seq);
    },
    facts: () => {
      throw new Error('pages of the log are read by the store itself');
    },
    factsAbout: (session) => current(read(loaded.factsAbout, session, wanted.factsAbout), () => true),
    factsOf: (type) => current(read(loaded.factsOf, type, wanted.factsOf), ({ fact }) => fact.type === type),
    recallsOf: (lessons, after) => {
      const key = recallKey(lessons, after);
      if (!loaded.recalls.has(key)) wanted.recalls.set(key, { lessons, after });
      return current(
        loaded.recalls.get(key),
        (one) => one.seq > after && one.fact.type === 'lessons-recalled',
      );
    },
    overwriteFact: (stored) => {
      changes.push({ op: 'overwrite', stored });
      overwritten.set(stored.seq, stored);
    },

    session: (id) => sessions.get(id) ?? read(loaded.sessions, id, wanted.sessions),
    putSession: (row) => void sessions.set(row.id, row),
    turn: (id) => turns.get(id) ?? read(loaded.turns, id, wanted.turns),
    turnsOf: (session) => {
      const before = read(loaded.turnsOf, session, wanted.turnsOf) ?? [];
      const stored = new Set(before.map(({ id }) => id));
      const fresh = [...turns.values()].filter((row) => row.session === session && !stored.has(row.id));
      return [...before.map((row) => turns.get(row.id) ?? row), ...fresh];
    },
    putTurn: (row) => void turns.set(row.id, row),
    addReward: (of, turn, session) => void changes.push({ op: 'reward', seq: of, turn, session }),
    clearViews: () => {
      throw new Error('views are cleared by the store itself');
    },
    sessionsBefore: () => {
      throw new Error('old sessions are found by the store itself');
    },

    addBody: (of, text, isHurried) => void changes.push({ op: 'body', seq: of, text, isHurried }),
    dropBodies: (facts) => void changes.push({ op: 'drop-bodies', facts }),
    addBlock: (block, isHurried) => void changes.push({ op: 'block', block, isHurried }),
    dropBlocks: (session) => {
      silenced.add(session);
      changes.push({ op: 'drop-blocks', session });
    },
    dropUse: (session, hash) => void changes.push({ op: 'drop-use', session, hash }),
    textsOf: (session) =>
      silenced.has(session) ? [] : (read(loaded.textsOf, session, wanted.textsOf) ?? []),
    putChain: (session, link) => void changes.push({ op: 'chain', session, link }),
    dropChain: (session) => void changes.push({ op: 'drop-chain', session }),
  };
}
