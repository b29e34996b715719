import { statSync } from 'node:fs';
import { asNumber, asObject, type JsonObject, parseJson } from '../../core/json.ts';
import { StoreError } from '../../core/store.ts';
import { peekInto } from './sql-connection.ts';
import { CLOCK_SUBJECT } from './views.ts';

/** What a store says about time. */
interface StoreTimes {
  /** The time of the newest fact; undefined for a store without facts. */
  readonly newest: number | undefined;
  /** The newest fact about the clock. */
  readonly clock: JsonObject | undefined;
}

const NOTHING: StoreTimes = { newest: undefined, clock: undefined };
const BUSY_MS = 2_000;

/**
 * Reads the newest times of a store of any version, before anything else opens it. A store that cannot be read says when
 * its file was last written: with no date at all, every date would be believed.
 */
export function peekTimes(file: string): StoreTimes {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (!stats?.size) return NOTHING;
  try {
    // Without a log nothing is being written: then SQLite creates none beside the file. For a log without its index (a copied
    // home) it would create the index: the log then says when it was written, and nothing more.
    const [log, index] = ['-wal', '-shm'].map((end) => statSync(`${file}${end}`, { throwIfNoEntry: false }));
    const isFixed = index === undefined;
    const written = isFixed && log !== undefined && log.size > 0 ? Math.round(log.mtimeMs) : undefined;
    return peekInto(file, { isFixed, busyMs: BUSY_MS }, (rows) => {
      if (rows(['name'], "select name from sqlite_schema where name = 'facts'").length === 0) return NOTHING;
      const [last] = rows(['at'], 'select at from facts order by seq desc limit 1');
      const about = `select type, body from facts where subject = '${CLOCK_SUBJECT}' order by seq desc limit 1`;
      const [clock] = rows(['type', 'body'], about);
      return {
        newest: written === undefined ? asNumber(last?.[0]) : Math.max(written, asNumber(last?.[0]) ?? 0),
        clock: clock && { ...asObject(parseJson(String(clock[1]))), type: String(clock[0]) },
      };
    });
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const log = statSync(`${file}-wal`, { throwIfNoEntry: false });
    return { ...NOTHING, newest: Math.round(Math.max(stats.mtimeMs, log?.mtimeMs ?? 0)) };
  }
}
