import { existsSync } from 'node:fs';
import { createIds } from '../base/ids.ts';
import { findDaemon, isAlive } from '../config/daemon-file.ts';
import { type Home, HomeInUseError, openHome } from '../config/home.ts';
import { readKey } from '../config/key.ts';
import { systemClock } from '../core/clock.ts';
import type { DaemonApi, LessonsApi } from '../core/daemon-api.ts';
import type { Records } from '../core/store.ts';
import { withErasableCopies } from '../record/erase-from-copies.ts';
import { lockHome } from '../record/home-lock.ts';
import { toRecords } from '../record/records.ts';
import { restoreSnapshot } from '../record/snapshots.ts';
import { createMemoryStore } from '../record/store/memory-store.ts';
import { openSqliteStore } from '../record/store/sqlite-store.ts';
import { followLibraryOnce, withErasedFiles } from './after-erasure.ts';
import { createRemoteApi } from './remote-api.ts';
import { createStoreApi } from './store-api.ts';

interface OpenedApi {
  readonly api: DaemonApi;
  readonly lessonsApi: LessonsApi;
  close(): void;
}

/**
 * The API of the running daemon; without a daemon, the store itself, locked while it is open. A missing store is created
 * only with `mayCreate`.
 */
export async function openApi(home: Home, env: NodeJS.ProcessEnv, mayCreate = false): Promise<OpenedApi> {
  const daemon = await findDaemon(home);
  if (daemon !== undefined && isAlive(daemon)) {
    return { ...createRemoteApi(daemon, readKey(home, env)?.key), close: () => undefined };
  }
  const now = systemClock.now;
  const over = (records: Records, close: () => void): OpenedApi => ({
    api: createStoreApi(records, now, async () => {
      const { REVIEW_JOB } = await import('../lessons/review-job.ts');
      const { describeOffline } = await import('../schedule/offline-schedule.ts');
      return describeOffline(home, env, records, REVIEW_JOB);
    }),
    lessonsApi: createLazyLessonsApi(records),
    close,
  });
  if (mayCreate) openHome(home.dir);
  else if (!existsSync(home.storeFile)) return over(toRecords(createMemoryStore(), now), () => undefined);
  const lock = lockHome(home.lockFile);
  if (lock === undefined)
    throw new HomeInUseError(`${home.dir} is in use by another Instar process that does not answer.`);
  const store = openSqliteStore({ file: home.storeFile });
  const { records } = withErasableCopies(toRecords(store, now), home, now);
  const followLibrary = followLibraryOnce(home, records);
  return over(withErasedFiles(records, { promptsDir: home.promptsDir, followLibrary }), () => {
    store.close();
    lock.release();
  });
}

/** Folds the library on the first call: commands such as `sessions list` do not need it. */
export function createLazyLessonsApi(records: Records): LessonsApi {
  let opened: Promise<LessonsApi> | undefined;
  const open = (): Promise<LessonsApi> => {
    // Also the code is loaded on the first call.
    opened ??= import('../lessons/open-lessons.ts')
      .then(({ openLessons }) =>
        openLessons({
          records,
          clock: systemClock,
          newId: createIds(systemClock),
          onFault: (error) => {
            throw error;
          },
        }),
      )
      .then(({ api }) => api);
    return opened;
  };
  return {
    list: async (query) => (await open()).list(query),
    all: async () => (await open()).all(),
    show: async (idOrName) => (await open()).show(idOrName),
    why: async (turn) => (await open()).why(turn),
    change: async (body) => (await open()).change(body),
    generations: async () => (await open()).generations(),
    review: async () => (await open()).review(),
    recall: async (query) => (await open()).recall(query),
    diff: async (from, to) => (await open()).diff(from, to),
    rollback: async (to) => (await open()).rollback(to),
  };
}

/** Replaces the store with a backup, under the lock. `kept` is the path of the previous store, if there was one. */
export function restoreHome(home: Home, file: string): { readonly kept: string | undefined } {
  const lock = lockHome(home.lockFile);
  if (lock === undefined) throw new HomeInUseError(`${home.dir} is in use by another Instar process.`);
  try {
    const wasThere = existsSync(home.storeFile);
    restoreSnapshot(file, home.storeFile);
    return { kept: wasThere ? `${home.storeFile}.before-restore` : undefined };
  } finally {
    lock.release();
  }
}
