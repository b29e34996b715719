import { parentPort, workerData } from 'node:worker_threads';
import { lowerThreadPriority } from '../../base/lower-thread-priority.ts';
import { serveWorkerCalls } from '../../base/worker-thread.ts';
import type { JsonObject } from '../../core/json.ts';
import { type AsyncReads, StoreError, type StoreReader } from '../../core/store.ts';
import { createGrowth, type TurnGrowth } from '../../evidence/growth.ts';
import { readAdaptation } from '../../learn/adapt/read-adaptation.ts';
import { decodeLessons } from '../../lessons/codec.ts';
import { reviewNotes } from '../../lessons/similar/review-notes.ts';
import { openPageReader, type PageReader, type SessionGroups } from '../../record/store/page-reader.ts';
import { suggestWindowsFromRecord } from '../../schedule/suggest/suggest-windows.ts';
import { FEED_NEWS, toFeedEvent } from './feed-events.ts';
import { listSessions } from './list-sessions.ts';
import type { PageCalls, PageThreadCall } from './page-reads.ts';
import { readThread } from './read-thread.ts';

/** Reads for the page, in a thread with a connection of its own: no turn waits for them, nor for a processor that they use. */
lowerThreadPriority();
const { file } = workerData as { readonly file: string };

interface Opened {
  readonly reader: PageReader;
  readonly records: AsyncReads;
  readonly growth: TurnGrowth;
  /** The last fact in `growth`. */
  grownTo: number;
}

let opened: Opened | undefined;
/** They are counted over all sessions. */
let groups: { readonly at: number; readonly value: SessionGroups } | undefined;
const GROUPS_MS = 5000;
/** The last one, and the record, lessons and rules that it is of. */
let adaptation: { readonly of: string; readonly value: JsonObject } | undefined;

const open = (): Opened => {
  if (opened === undefined) {
    const reader = openPageReader(file);
    opened = { reader, records: toAsync(reader), growth: createGrowth(), grownTo: 0 };
  }
  return opened;
};

const CALLS: { readonly [Name in keyof PageCalls]: (...args: Parameters<PageCalls[Name]>) => unknown } = {
  sessions: (search) => {
    const { reader, records } = open();
    return listSessions(search, reader, records);
  },
  thread: (query) => {
    const { reader, records } = open();
    return readThread(query, reader, records);
  },
  facets: () => {
    const now = performance.now();
    if (groups === undefined || now - groups.at > GROUPS_MS)
      groups = { at: now, value: open().reader.groupSessions() };
    return groups.value;
  },
  growth: (query) => {
    const now = open();
    followGrowth(now);
    return now.growth.describe(query);
  },
  sessionsOf: (turns) =>
    turns.flatMap((turn): readonly JsonObject[] => {
      const found = open().reader.turn(turn);
      return found === undefined ? [] : [{ turn, session: found.session }];
    }),
  moves: (policy) =>
    open()
      .reader.events(policy)
      .flatMap(({ at, fact }) => (fact.type === 'policy-moved' ? [{ at, fact }] : [])),
  feed: (after) => {
    const { reader } = open();
    const { last, facts, passed } = reader.news(after, FEED_NEWS);
    return { last, passed, events: facts.flatMap((stored) => toFeedEvent(stored, reader) ?? []) };
  },
  lastSeq: () => open().reader.lastSeq(),
  adaptation: async (lessons, rules) => {
    const { reader, records } = open();
    const of = JSON.stringify([reader.lastSeq(), lessons, rules]);
    if (adaptation?.of !== of)
      adaptation = { of, value: await readAdaptation(records, decodeLessons(lessons), rules) };
    return adaptation.value;
  },
  suggestWindows: (now) => suggestWindowsFromRecord(open().records, now),
  review: (lessons) => reviewNotes(decodeLessons(lessons)),
};

const PAGE = 2000;

function followGrowth(now: Opened): void {
  for (;;) {
    const facts = now.reader.factsOf('turn-appraised', now.grownTo, PAGE);
    for (const stored of facts) now.growth.add(stored);
    now.grownTo = facts.at(-1)?.seq ?? now.grownTo;
    if (facts.length < PAGE) return;
  }
}

/** The same reads as promises. */
function toAsync(reader: StoreReader): AsyncReads {
  const wrap =
    <Args extends readonly unknown[], T>(read: (...args: Args) => T) =>
    async (...args: Args): Promise<T> =>
      read(...args);
  return {
    facts: wrap(reader.facts),
    factsOf: wrap(reader.factsOf),
    newestOf: wrap(reader.newestOf),
    recalls: wrap(reader.recalls),
    sampled: wrap(reader.sampled),
    events: wrap(reader.events),
    sessions: wrap(reader.sessions),
    session: wrap(reader.session),
    ids: wrap(reader.ids),
    turns: wrap(reader.turns),
    turn: wrap(reader.turn),
    openTurns: wrap(reader.openTurns),
    rewards: wrap(reader.rewards),
    judgements: wrap(reader.judgements),
    block: wrap(reader.block),
    chains: wrap(reader.chains),
    totals: wrap(reader.totals),
    check: wrap(reader.check),
  };
}

serveWorkerCalls<PageThreadCall>(parentPort, {
  answer: ({ method, args }) => (CALLS[method] as (...given: readonly unknown[]) => unknown)(...args),
  toFailure: (error) => {
    opened?.reader.close();
    opened = undefined;
    return error instanceof StoreError ? error : new StoreError('io', String(error));
  },
  stop: () => opened?.reader.close(),
});
