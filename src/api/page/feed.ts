import type { ServerResponse } from 'node:http';
import type { Log } from '../../base/log.ts';
import { createFailure, type Failure } from '../../core/failure.ts';
import { asArray, asNumber, asObject, type JsonObject } from '../../core/json.ts';
import type { ApiReply } from '../../gateway/api-router.ts';
import type { FeedEvent } from './feed-events.ts';
import type { PageReads } from './page-reads.ts';

/** What happens, as server-sent events to every page that is open. */
export interface Feed {
  /** `after`: the last event that the page has seen. */
  join(after: number | undefined): ApiReply | Failure;
  /** Ends what every open page is told: whoever is still signed in comes back by itself. */
  endAll(): void;
  close(): void;
}

interface FeedOptions {
  readonly reads: Pick<PageReads, 'feed' | 'lastSeq'>;
  /** For `hello`, and for what waits. */
  readonly status: () => JsonObject;
  readonly log: Pick<Log, 'warn'>;
  /** Between two looks at the record, and for a page that does not read; for tests. */
  readonly lookMs?: number;
  readonly patienceMs?: number;
  /** Between two looks at what waits; for tests. */
  readonly waitingMs?: number;
}

const LOOK_MS = 1000;
/** After a look that passed so many facts, the page looks less often: those who are served come first. */
const BUSY_FACTS = 300;
const BUSY_TIMES = 4;
const HEARTBEAT_MS = 15_000;
/** What waits may change by the clock alone. */
const WAITING_MS = 5000;
const SOON_MS = 2000;
/** A page that comes back and is further behind than so many facts loads everything again. */
const MOST_BEHIND = 5000;
const MOST_READERS = 20;
/** In a row, until what is told is all that learning did. */
const MOST_LOOKS = 3;
/** A page with more that it has not read gets nothing until it has, and is disconnected after a while; it resumes where it was. */
const MOST_UNREAD_BYTES = 64 * 1024;
const PATIENCE_MS = 10_000;

/** Events after which something else may wait. */
const ABOUT_WAITING: ReadonlySet<string> = new Set(['library', 'learning', 'appraised', 'reward']);

interface Reader {
  readonly response: ServerResponse;
  /** The last fact whose event it was sent; undefined until its first look. */
  at: number | undefined;
  /** Since when it does not read. */
  blockedAt: number | undefined;
}

/** The pages that read what they are sent: at most one look is unread of each. One that does not read for long is disconnected. */
function listReading(readers: ReadonlySet<Reader>, patienceMs: number): readonly Reader[] {
  const now = performance.now();
  return [...readers].filter((reader) => {
    const isBlocked = reader.response.writableLength > MOST_UNREAD_BYTES;
    reader.blockedAt = isBlocked ? (reader.blockedAt ?? now) : undefined;
    if (reader.blockedAt !== undefined && now - reader.blockedAt > patienceMs) reader.response.destroy();
    return !isBlocked;
  });
}

function groupByPlace(readers: readonly Reader[]): ReadonlyMap<number, readonly Reader[]> {
  const places = new Map<number, Reader[]>();
  for (const reader of readers) {
    if (reader.at === undefined) continue;
    const same = places.get(reader.at);
    if (same === undefined) places.set(reader.at, [reader]);
    else same.push(reader);
  }
  return places;
}

function send({ response }: Reader, text: string): void {
  if (!response.destroyed && !response.writableEnded) response.write(text);
}

/** Where a page goes on that has seen the events up to `after`. */
function bringUpToDate(reader: Reader, after: number | undefined, newest: number): void {
  // A later event than the newest is one of another record: this one began anew.
  const isKnown = after !== undefined && after <= newest && newest - after <= MOST_BEHIND;
  if (after !== undefined && !isKnown) send(reader, write({ id: newest, event: 'reset', data: {} }));
  reader.at = isKnown ? after : newest;
}

/** Looks at the record for the pages that read. */
function createLooks(reads: FeedOptions['reads'], lookMs: number, reading: () => readonly Reader[]) {
  /** Something happened that learning may still be at work on. */
  let isUnsettled = false;
  let busyUntil = 0;
  /** All readers that are at the same place share one look. True: something else may wait now. */
  const look = async (): Promise<boolean> => {
    let mayChangeWaiting = false;
    for (const [place, same] of groupByPlace(reading())) {
      const { last, passed, events } = await reads.feed(place);
      if (passed >= BUSY_FACTS) busyUntil = performance.now() + (BUSY_TIMES - 0.5) * lookMs;
      const text = events.map(write).join('');
      mayChangeWaiting ||= events.some(({ event }) => ABOUT_WAITING.has(event));
      isUnsettled ||= passed > 0;
      for (const reader of same) {
        reader.at = last;
        if (text !== '') send(reader, text);
      }
    }
    return mayChangeWaiting;
  };
  return {
    look,
    isBusy: (): boolean => performance.now() < busyUntil,
    /** Whether learning has, since the last time, read all that happened, has nothing left to do for now, and every event of that is told. */
    isSettledNow: async (hasPending: () => boolean): Promise<boolean> => {
      if (!isUnsettled) return false;
      for (let times = 0; isUnsettled && times < MOST_LOOKS; times++) {
        if (hasPending()) return false;
        isUnsettled = false;
        await look();
      }
      return !isUnsettled;
    },
  };
}

/**
 * Nothing on the way of a request tells the feed anything: while a page is open, the record is looked at once a second in the
 * thread of the page, and less often while much is recorded. The record is also what a page resumes from. Without a page nothing runs.
 */
export function createFeed(options: FeedOptions): Feed {
  const { reads, status, log, lookMs = LOOK_MS, waitingMs = WAITING_MS } = options;
  const readers = new Set<Reader>();
  let timer: NodeJS.Timeout | undefined;
  let isLooking = false;
  let lastBeat = 0;
  let waiting = '';
  let askedAt = 0;

  const reading = (): readonly Reader[] => listReading(readers, options.patienceMs ?? PATIENCE_MS);
  const looks = createLooks(reads, lookMs, reading);
  const tellWaiting = (): void => {
    askedAt = performance.now();
    const text = JSON.stringify(describeWaiting(status()));
    if (text === waiting) return;
    waiting = text;
    for (const reader of reading()) send(reader, `event: waiting\ndata: ${text}\n\n`);
  };
  const beat = (): void => {
    if (performance.now() - lastBeat < HEARTBEAT_MS) return;
    lastBeat = performance.now();
    for (const reader of reading()) send(reader, ': still here\n\n');
  };
  const tick = async (): Promise<void> => {
    if (isLooking || looks.isBusy()) return;
    isLooking = true;
    try {
      const isSoon = await looks.look();
      if (performance.now() - askedAt > (isSoon ? Math.min(SOON_MS, waitingMs) : waitingMs)) tellWaiting();
      if (await looks.isSettledNow(() => asObject(status().learning).pending !== 0))
        for (const reader of reading()) send(reader, 'event: settled\ndata: {}\n\n');
      beat();
    } catch (error) {
      log.warn({ err: error }, 'the feed of the page could not be read; it is tried again');
    } finally {
      isLooking = false;
    }
  };
  const begin = async (response: ServerResponse, after: number | undefined): Promise<void> => {
    const reader: Reader = { response, at: undefined, blockedAt: undefined };
    readers.add(reader);
    response.on('close', () => {
      readers.delete(reader);
      if (readers.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    });
    response.writeHead(200, STREAM_HEADERS);
    response.flushHeaders();
    timer ??= setInterval(() => void tick(), lookMs);
    bringUpToDate(reader, after, await reads.lastSeq());
    send(reader, `retry: 2000\n${write(helloFor(reader, status()))}`);
    await tick();
  };

  const endAll = (): void => {
    for (const { response } of readers) response.end();
  };

  return {
    join: (after) =>
      readers.size >= MOST_READERS
        ? createFailure('overloaded', 'Too many pages are open. Close some of them.', {
            retryAfterMs: 10_000,
          })
        : { stream: (response) => void begin(response, after).catch(() => response.destroy()) },
    endAll,
    close: () => {
      clearInterval(timer);
      endAll();
      readers.clear();
    },
  };
}

const STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  connection: 'keep-alive',
};

/** With an id, so that a page that saw nothing else resumes here. */
function helloFor({ at = 0 }: Reader, status: JsonObject): FeedEvent {
  const generation = asNumber(asObject(status.library).generation) ?? 0;
  return { id: at, event: 'hello', data: { generation, waiting: describeWaiting(status) } };
}

const write = ({ id, event, data }: FeedEvent): string =>
  `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

function describeWaiting({ waiting }: JsonObject): JsonObject {
  const items = asArray(waiting);
  return { count: items.length, items };
}
