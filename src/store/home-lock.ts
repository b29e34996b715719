import { StoreError } from '../core/store.ts';
import { makePrivate } from './private-file.ts';
import { openSql, type Sql } from './sql.ts';
import { toStoreError } from './sql-error.ts';

/** A connection that nobody refers to is collected, and its lock with it. */
const held = new Set<Sql>();

/**
 * Says that this process owns the home. The kernel keeps the lock and frees it however the process ends, so there are
 * no stale ones. Undefined when another has it. Nothing else may open this file: closing it would free the lock.
 */
export function lockHome(file: string): { release(): void } | undefined {
  const sql = openLock(file);
  try {
    sql.exec('begin exclusive');
  } catch (error) {
    sql.close();
    if (error instanceof StoreError && error.code === 'locked') return undefined;
    throw error;
  }
  held.add(sql);
  return {
    release: () => {
      held.delete(sql);
      sql.close();
    },
  };
}

function openLock(file: string): Sql {
  try {
    makePrivate(file);
  } catch (error) {
    throw toStoreError(error, file);
  }
  return openSql(file, { busyMs: 0 });
}
