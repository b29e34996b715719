import { existsSync } from 'node:fs';
import { type Home, openHome } from '../config/home.ts';
import { readKey } from '../config/key.ts';
import { systemClock } from '../core/clock.ts';
import type { Desk } from '../core/desk.ts';
import type { LessonsDesk } from '../core/lessons-desk.ts';
import type { Records } from '../core/records.ts';
import { lockHome } from '../store/home-lock.ts';
import { createMemoryStore } from '../store/memory-store.ts';
import { openSqliteStore } from '../store/sqlite-store.ts';
import { createDesk } from './desk.ts';
import { findDaemon, isAlive } from './find-daemon.ts';
import { HomeTakenError } from './home-taken-error.ts';
import { createIds } from './ids.ts';
import { withFreshCopies } from './recording/copies.ts';
import { recordsOf } from './recording/records-of.ts';
import { createRemoteDesks } from './remote-desk.ts';

export interface OpenDesk {
  readonly desk: Desk;
  readonly shelf: LessonsDesk;
  close(): void;
}

/** Through the daemon when one runs; else the store itself, locked while we have it; made only for who will write. */
export async function openDesk(home: Home, env: NodeJS.ProcessEnv, mayCreate = false): Promise<OpenDesk> {
  const daemon = await findDaemon(home);
  if (daemon !== undefined && isAlive(daemon)) {
    return { ...createRemoteDesks(daemon, readKey(home, env)?.key), close: () => undefined };
  }
  const now = systemClock.now;
  const over = (records: Records, close: () => void): OpenDesk => ({
    desk: createDesk(records, now, async () =>
      (await import('./schedule/offline-schedule.ts')).describeOffline(home, env, records),
    ),
    shelf: lazyShelf(records),
    close,
  });
  if (mayCreate) openHome(home.dir);
  else if (!existsSync(home.storeFile)) return over(recordsOf(createMemoryStore(), now), () => undefined);
  const lock = lockHome(home.lockFile);
  if (lock === undefined)
    throw new HomeTakenError(`${home.dir} is in use by another Instar that does not answer.`);
  const store = openSqliteStore({ file: home.storeFile });
  return over(withFreshCopies(recordsOf(store, now), home.snapshotDir, now), () => {
    store.close();
    lock.release();
  });
}

/** The library is folded when someone asks about it, not for a list of sessions. */
export function lazyShelf(records: Records): LessonsDesk {
  let opened: Promise<LessonsDesk> | undefined;
  const open = (): Promise<LessonsDesk> => {
    // Most commands ask nothing of it: what it is made of is loaded when it is wanted.
    opened ??= import('./library/open-shelf.ts')
      .then(({ openShelf }) =>
        openShelf({
          records,
          clock: systemClock,
          newId: createIds(systemClock),
          onFault: (error) => {
            throw error;
          },
        }),
      )
      .then(({ desk }) => desk);
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
