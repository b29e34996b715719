import { existsSync } from 'node:fs';
import type { Home } from '../config/home.ts';
import { lockHome } from '../store/home-lock.ts';
import { restoreSnapshot } from '../store/snapshots.ts';
import { HomeTakenError } from './home-taken-error.ts';

/** Puts a backup in the store's place, under the lock. Where the old store went, if there was one. */
export function restoreHome(home: Home, file: string): { readonly kept: string | undefined } {
  const lock = lockHome(home.lockFile);
  if (lock === undefined) throw new HomeTakenError(`${home.dir} is in use by another Instar.`);
  try {
    const wasThere = existsSync(home.storeFile);
    restoreSnapshot(file, home.storeFile);
    return { kept: wasThere ? `${home.storeFile}.before-restore` : undefined };
  } finally {
    lock.release();
  }
}
