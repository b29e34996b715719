import { existsSync } from 'node:fs';
import { whyNoPgDriver } from '../base/pg-driver.ts';
import type { GatewayProcess } from '../core/gateway-process.ts';
import { type AsyncReads, type AsyncStore, StoreError } from '../core/store.ts';
import { isPgUrl } from './pg-place.ts';
import { toAsyncReads, toAsyncStore } from './store/async-store.ts';
import { openSqlitePageReader, type PageReader } from './store/page-reader.ts';
import { openSqliteReader, openSqliteStore } from './store/sqlite-store.ts';

/**
 * A store that this process writes. `place`: a file, or the URL of a PostgreSQL. The driver is loaded only for the latter.
 * `gateway`: the run that its turns name.
 */
export async function openStore(place: string, gateway?: GatewayProcess): Promise<AsyncStore> {
  if (!isPgUrl(place)) return toAsyncStore(openSqliteStore({ file: place }));
  const { openPgStore } = await import('../../team/postgres/pg-store.ts');
  return openPgStore({ url: place, ...(gateway && { gateway }) });
}

/**
 * The store of a home that no daemon serves; the home is locked. What waits for a database that was away is written first:
 * what is read or erased then is the whole record.
 */
export async function openWholeStore(
  home: { readonly spoolFile: string },
  place: string,
): Promise<AsyncStore> {
  const store = await openStore(place);
  try {
    if (existsSync(home.spoolFile)) {
      const { drainSpool } = await import('../../team/spool/replay-spool.ts');
      await drainSpool(home.spoolFile, store, Date.now());
    }
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

export interface OpenReads extends AsyncReads {
  /** A consistent copy in one new SQLite file. */
  snapshot(file: string): Promise<void>;
  close(): Promise<void>;
}

/** A store that others write. Each query sees what was committed before it. */
export async function openReads(place: string): Promise<OpenReads> {
  if (isPgUrl(place)) {
    const { openPgReader } = await import('../../team/postgres/pg-store.ts');
    return openPgReader(place);
  }
  const reader = openSqliteReader(place);
  return {
    ...toAsyncReads(reader),
    snapshot: async (file) => reader.snapshot(file),
    close: async () => reader.close(),
  };
}

/** What the page reads of a store that others write. */
export async function openPageReader(place: string): Promise<PageReader> {
  if (!isPgUrl(place)) return openSqlitePageReader(place);
  const { openPgPageReader } = await import('../../team/postgres/pg-page-reader.ts');
  return openPgPageReader(place);
}

/** Reads that are opened by the first of them, and again after a failure. After `close` each rejects with `closed`. */
export function openLastingReads(place: string): AsyncReads & { close(): void } {
  let opened: Promise<OpenReads> | undefined;
  let isClosed = false;
  const drop = (): void => {
    const last = opened;
    opened = undefined;
    // One that could not be opened needs no end.
    void last?.then((reads) => reads.close()).catch(() => undefined);
  };
  const read =
    <Name extends keyof AsyncReads>(name: Name) =>
    async (...args: Parameters<AsyncReads[Name]>): Promise<Awaited<ReturnType<AsyncReads[Name]>>> => {
      if (isClosed) throw new StoreError('closed', 'The thread that reads is stopping.');
      try {
        opened ??= openReads(place);
        const ask = (await opened)[name] as (
          ...given: Parameters<AsyncReads[Name]>
        ) => Promise<Awaited<ReturnType<AsyncReads[Name]>>>;
        return await ask(...args);
      } catch (error) {
        drop();
        throw error instanceof StoreError ? error : new StoreError('io', String(error), { cause: error });
      }
    };
  return {
    facts: read('facts'),
    factsOf: read('factsOf'),
    newestOf: read('newestOf'),
    recalls: read('recalls'),
    sampled: read('sampled'),
    events: read('events'),
    sessions: read('sessions'),
    session: read('session'),
    ids: read('ids'),
    turns: read('turns'),
    turn: read('turn'),
    openTurns: read('openTurns'),
    rewards: read('rewards'),
    judgements: read('judgements'),
    block: read('block'),
    chains: read('chains'),
    totals: read('totals'),
    check: read('check'),
    close: () => {
      isClosed = true;
      drop();
    },
  };
}

/** Where the record of a home is: its file, or the PostgreSQL that the settings name. Throws `StoreError` without its driver. */
export function placeOfRecord(home: { readonly storeFile: string }, store: { readonly url: string }): string {
  if (!isPgUrl(store.url)) return home.storeFile;
  const why = whyNoPgDriver();
  if (why !== undefined) throw new StoreError('no-driver', why);
  return store.url;
}
