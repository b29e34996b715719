import { rmSync, statSync } from 'node:fs';
import { StoreError } from '../../core/store.ts';
import { writeSnapshotFile } from '../snapshots.ts';
import type { Sql } from './sql-connection.ts';

/** Which file a path leads to. */
export const placeOf = (file: string): string | undefined => {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats === undefined ? undefined : `${stats.dev}:${stats.ino}`;
};

/**
 * Throws when the path no longer leads to the file that this connection has open: what is written then would be lost with
 * the process. The content is still readable through the connection, and is written back to its path, or beside it when
 * another file is there now; the writer then opens the path again.
 */
export function keepIfMoved(sql: Sql, place: string | undefined): void {
  const now = placeOf(sql.file);
  if (now === place) return;
  const kept = now === undefined ? sql.file : `${sql.file}.kept-${Date.now()}`;
  // The log of the file that is gone would be replayed into the one that takes its place.
  if (now === undefined) for (const end of ['-wal', '-shm']) rmSync(`${sql.file}${end}`, { force: true });
  writeSnapshotFile(kept, (temporary) => void sql.run('vacuum into ?', temporary));
  throw new StoreError(
    'io',
    now === undefined
      ? `${sql.file} was deleted while it was open; it has been written again`
      : `${sql.file} was replaced while it was open; what it held before is in ${kept}`,
  );
}

const LOOK_MS = 200;

/** A connection that is opened again when its path leads to another file: a reader must not keep reading one that is gone. */
export function followFile(file: string, connect: () => Sql): Sql {
  let sql = connect();
  let place = placeOf(file);
  let lookedAt = performance.now();
  const current = (): Sql => {
    if (performance.now() - lookedAt < LOOK_MS) return sql;
    lookedAt = performance.now();
    const now = placeOf(file);
    if (now === place || now === undefined) return sql;
    const next = connect();
    sql.close();
    sql = next;
    place = now;
    return sql;
  };
  return {
    file,
    run: (...args) => current().run(...args),
    insert: (...args) => current().insert(...args),
    get: (...args) => current().get(...args),
    all: (...args) => current().all(...args),
    exec: (text) => current().exec(text),
    transaction: (work) => current().transaction(work),
    waiting: (ms, work) => current().waiting(ms, work),
    close: () => sql.close(),
  };
}
