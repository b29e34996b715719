import { parentPort, workerData } from 'node:worker_threads';
import { lowerThreadPriority } from '../../base/lower-thread-priority.ts';
import { serveWorkerCalls } from '../../base/worker-thread.ts';
import type { JsonObject } from '../../core/json.ts';
import { PRACTICE_SESSIONS } from '../../core/session-fact.ts';
import { StoreError } from '../../core/store.ts';
import { decodeLessons } from '../../lessons/codec.ts';
import { openPageReader } from '../../record/open-store.ts';
import type { PageReader, SessionGroups } from '../../record/store/page-reader.ts';
import { describeAdaptation } from '../adapt-api.ts';
import { FEED_NEWS, type FeedEvent, toFeedEvent } from './feed-events.ts';
import { listSessions } from './list-sessions.ts';
import type { PageCalls, PageThreadCall } from './page-reads.ts';
import { readHome } from './read-home.ts';
import { readThread } from './read-thread.ts';

/** Reads for the page, in a thread with a connection of its own: no turn waits for them, nor for a processor that they use. */
lowerThreadPriority();
const { place } = workerData as { readonly place: string };

let opened: Promise<PageReader> | undefined;
/** They are counted over all sessions. */
let groups: { readonly at: number; readonly value: SessionGroups } | undefined;
const GROUPS_MS = 5000;
/** The last one, and the record, lessons and rules that it is of. */
let adaptation: { readonly of: string; readonly value: JsonObject } | undefined;

const open = (): Promise<PageReader> => {
  opened ??= openPageReader(place);
  return opened;
};
const close = (): void => {
  const last = opened;
  opened = undefined;
  // A reader that could not be opened needs no end.
  void last?.then((reader) => reader.close()).catch(() => undefined);
};

const CALLS: { readonly [Name in keyof PageCalls]: (...args: Parameters<PageCalls[Name]>) => unknown } = {
  sessions: async (search) => {
    const reader = await open();
    return listSessions(search, reader);
  },
  thread: async (query) => {
    const reader = await open();
    return readThread(query, reader, reader);
  },
  facets: async () => {
    const now = performance.now();
    if (groups === undefined || now - groups.at > GROUPS_MS)
      groups = { at: now, value: await (await open()).groupSessions() };
    return groups.value;
  },
  home: async (query) => readHome(query, await open()),
  sessionsOf: async (turns) => {
    const reader = await open();
    const found: JsonObject[] = [];
    for (const turn of turns) {
      const view = await reader.turn(turn);
      if (view !== undefined) found.push({ turn, session: view.session });
    }
    return found;
  },
  moves: async (policy) =>
    (await (await open()).events(policy)).flatMap(({ at, fact }) =>
      fact.type === 'policy-moved' ? [{ at, fact }] : [],
    ),
  feed: async (after) => {
    const reader = await open();
    const { last, facts, passed } = await reader.news(after, FEED_NEWS);
    const events: FeedEvent[] = [];
    for (const stored of facts) {
      const event = await toFeedEvent(stored, reader);
      if (event !== undefined) events.push(event);
    }
    return { last, passed, events };
  },
  lastSeq: async () => (await open()).lastSeq(),
  adaptation: async (lessons) => {
    const reader = await open();
    const of = JSON.stringify([await reader.lastSeq(), lessons]);
    if (adaptation?.of === of) return adaptation.value;
    const value = await describeAdaptation(reader, decodeLessons(lessons));
    adaptation = { of, value };
    return value;
  },
  used: async () => {
    const reader = await open();
    return {
      practice: (await reader.events(PRACTICE_SESSIONS)).length > 0,
      adaptation: (await reader.factsOf('event-reported', 0, 1)).length > 0,
    };
  },
};

serveWorkerCalls<PageThreadCall>(parentPort, {
  answer: ({ method, args }) => (CALLS[method] as (...given: readonly unknown[]) => unknown)(...args),
  toFailure: (error) => {
    close();
    return error instanceof StoreError ? error : new StoreError('io', String(error));
  },
  stop: close,
});
