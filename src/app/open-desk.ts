import { existsSync } from 'node:fs';
import type { Home } from '../config/home.ts';
import { readKey } from '../config/key.ts';
import type { Desk } from '../core/desk.ts';
import { lockHome } from '../store/home-lock.ts';
import { createMemoryStore } from '../store/memory-store.ts';
import { openSqliteStore } from '../store/sqlite-store.ts';
import { HomeTakenError } from './daemon.ts';
import { createDesk } from './desk.ts';
import { findDaemon, isAlive } from './find-daemon.ts';
import { withFreshCopies } from './recording/copies.ts';
import { recordsOf } from './recording/records-of.ts';
import { createRemoteDesk } from './remote-desk.ts';

export interface OpenDesk {
  readonly desk: Desk;
  close(): void;
}

/** Through the daemon when one runs; else the store itself, locked while we have it. */
export async function openDesk(home: Home, env: NodeJS.ProcessEnv): Promise<OpenDesk> {
  const daemon = await findDaemon(home);
  if (daemon !== undefined && isAlive(daemon)) {
    return { desk: createRemoteDesk(daemon, readKey(home, env)?.key), close: () => undefined };
  }
  const now = () => Date.now();
  if (!existsSync(home.storeFile))
    return { desk: createDesk(recordsOf(createMemoryStore(), now), now), close: () => undefined };
  const lock = lockHome(home.lockFile);
  if (lock === undefined)
    throw new HomeTakenError(`${home.dir} is in use by another Instar that does not answer.`);
  const store = openSqliteStore({ file: home.storeFile });
  return {
    desk: createDesk(withFreshCopies(recordsOf(store, now), home.snapshotDir, now), now),
    close: () => {
      store.close();
      lock.release();
    },
  };
}
