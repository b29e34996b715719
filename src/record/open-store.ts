import type { AsyncReads, AsyncStore } from '../core/store.ts';
import { isPgUrl } from './postgres/pg-place.ts';
import { toAsyncReads, toAsyncStore } from './store/async-store.ts';
import { openSqliteReader, openSqliteStore } from './store/sqlite-store.ts';

/** A store that this process writes. `place`: a file, or the URL of a PostgreSQL. The driver is loaded only for the latter. */
export async function openStore(place: string): Promise<AsyncStore> {
  if (!isPgUrl(place)) return toAsyncStore(openSqliteStore({ file: place }));
  const { openPgStore } = await import('./postgres/pg-store.ts');
  return openPgStore({ url: place });
}

export interface OpenReads extends AsyncReads {
  /** A consistent copy in one new SQLite file. */
  snapshot(file: string): Promise<void>;
  close(): Promise<void>;
}

/** A store that others write. Each query sees what was committed before it. */
export async function openReads(place: string): Promise<OpenReads> {
  if (isPgUrl(place)) {
    const { openPgReader } = await import('./postgres/pg-store.ts');
    return openPgReader(place);
  }
  const reader = openSqliteReader(place);
  return {
    ...toAsyncReads(reader),
    snapshot: async (file) => reader.snapshot(file),
    close: async () => reader.close(),
  };
}
