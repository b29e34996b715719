import { keepOldFormat } from '../src/api/take-home.ts';
import { editConfig, writeConfigText } from '../src/config/edit-config.ts';
import { type Home, HomeInUseError } from '../src/config/home.ts';
import { readStoreUrl } from '../src/config/store-url.ts';
import type { JsonObject } from '../src/core/json.ts';
import { StoreError } from '../src/core/store.ts';
import { lockHome } from '../src/record/home-lock.ts';
import { openWholeStore } from '../src/record/open-store.ts';
import { isPgUrl } from '../src/record/pg-place.ts';
import { leaveSqlite, moveToPg, moveToSqlite } from './postgres/move-record.ts';
import { readSharedSalt } from './shared-salt.ts';

interface MoveOptions {
  readonly env: NodeJS.ProcessEnv;
  /** A PostgreSQL, or `sqlite`. */
  readonly to: string;
  readonly onProgress?: (done: number, of: number) => void;
}

/**
 * Moves the record of a home between its SQLite file and PostgreSQL, and then the setting `store.url`: whatever interrupts
 * it, the settings name a whole record. Throws `StoreError`, and `HomeInUseError` while a daemon runs.
 */
export async function moveStore(home: Home, { env, to, onProgress }: MoveOptions): Promise<JsonObject> {
  const from = readStoreUrl(home.configFile);
  if (isPgUrl(from) === isPgUrl(to))
    throw new StoreError(
      'io',
      isPgUrl(to)
        ? 'the record is in PostgreSQL already: move it to sqlite first'
        : 'the record is in the SQLite file of this home already',
    );
  const lock = lockHome(home.lockFile);
  if (lock === undefined) throw new HomeInUseError(`${home.dir} is in use by another Instar process.`);
  try {
    // Faulty settings are found before anything is copied.
    const { text } = editConfig(home.configFile, [{ path: ['store', 'url'], value: to }], env);
    if (isPgUrl(from)) await (await openWholeStore(home, from)).close();
    else keepOldFormat(home);
    const moved = isPgUrl(to)
      ? await moveToPg(home.storeFile, to, onProgress)
      : await moveToSqlite(from, home.storeFile);
    // Marks in the record were made with the salt of this home.
    if (isPgUrl(to)) await readSharedSalt(to, home);
    writeConfigText(home.configFile, text);
    const kept = isPgUrl(to) ? { kept: leaveSqlite(home.storeFile) } : {};
    return { to: isPgUrl(to) ? 'postgres' : 'sqlite', where: moved.where, ...moved.copied, ...kept };
  } finally {
    lock.release();
  }
}
