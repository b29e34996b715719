import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { StoreError } from '../src/core/store.ts';
import { type DoctorCheck, failed, passed, warned } from '../src/doctor/doctor-check.ts';
import { describePlace, readPgUrl } from '../src/record/pg-place.ts';
import { peekInto } from '../src/record/store/sql-connection.ts';
import { localTime, plural } from '../src/text/phrases.ts';
import { openPgPool } from './postgres/pg-connection.ts';
import { createPgReader } from './postgres/pg-reader.ts';
import { checkPgServer, PG_MIGRATIONS, readPgVersion } from './postgres/pg-schema.ts';

/** Whether the record in PostgreSQL can be reached, is ours and is of a known version. Creates and changes nothing. */
export async function checkPostgres(url: string, spoolFile: string): Promise<readonly DoctorCheck[]> {
  return [...(await checkServer(url)), ...checkSpool(spoolFile)];
}

/** What waits in the home for the server. */
function checkSpool(file: string): readonly DoctorCheck[] {
  try {
    const { turns, bytes, since, damaged } = inspectSpool(file);
    const size = `${plural(turns, 'turn')} (${Math.ceil(bytes / 1_048_576)} MB)`;
    return [
      ...(since === undefined
        ? []
        : [
            warned(
              'spool',
              `${size} since ${localTime(since)} ${turns === 1 ? 'waits' : 'wait'} in this home for PostgreSQL`,
              'start the server: a running Instar writes them to it by itself, else: instar up',
              'spool-waits',
            ),
          ]),
      ...damaged.map((name) =>
        warned(
          'spool',
          `${name} could not be read and was put aside: the turns in it are not in the record`,
          `delete it, or ask for help with what is in it: ${name}`,
          'spool-damaged',
        ),
      ),
    ];
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return [failed('spool', error.message, `move it away: ${file}`, 'spool-unreadable')];
  }
}

async function checkServer(url: string): Promise<readonly DoctorCheck[]> {
  try {
    const { where, server, turns, bytes, unclean, isNew, isUnfinished } = await inspectPg(url);
    const place = `PostgreSQL ${server}, ${where}`;
    if (isNew) return [passed('store', `${place}: nothing is recorded yet`)];
    if (isUnfinished)
      return [
        failed(
          'store',
          `${place} has an unfinished copy of a record`,
          'finish it: instar team store migrate URL',
          'store-unfinished',
        ),
      ];
    const size = `${place}: ${plural(turns, 'turn')}, ${Math.ceil(bytes / 1_048_576)} MB`;
    return [
      passed('store', size),
      ...(unclean.length === 0
        ? []
        : [
            warned(
              'store',
              `${plural(unclean.length, 'table')} still ${unclean.length === 1 ? 'has' : 'have'} erased text in free space: ${unclean.join(', ')}`,
              `when nobody uses it: ${unclean.map((name) => `vacuum full ${name};`).join(' ')}`,
              'store-unclean',
            ),
          ]),
    ];
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return [failed('store', error.message, fixOf(error), `store-${error.code}`)];
  }
}

const fixOf = ({ code }: StoreError): string =>
  code === 'away'
    ? 'start the server, or correct the host and the port in store.url'
    : code === 'newer'
      ? 'npm install -g instar@latest'
      : 'do what it says, then: instar doctor';

interface PgInspection {
  /** The database and the server, without the password. */
  readonly where: string;
  /** Its version. */
  readonly server: number;
  readonly isNew: boolean;
  /** A copy of another store was begun and has not ended. */
  readonly isUnfinished: boolean;
  readonly turns: number;
  readonly bytes: number;
  /** Tables with erased text in their free space. */
  readonly unclean: readonly string[];
}

/** Looks at a store in PostgreSQL without changing it. Rejects with `StoreError` when it cannot be used. */
async function inspectPg(url: string): Promise<PgInspection> {
  const place = readPgUrl(url);
  const pool = openPgPool(place, { most: 1, queryMs: 10_000 });
  try {
    const server = await checkPgServer(pool);
    const nothing = { turns: 0, bytes: 0, unclean: [], isUnfinished: false };
    const target = { where: describePlace(place), server };
    if ((await readPgVersion(pool, PG_MIGRATIONS.length)) === 0)
      return { ...target, ...nothing, isNew: true };
    const { turns, bytes } = await createPgReader(pool).totals();
    const rows = await pool.all<{ relation: string }>('select relation from unclean order by relation');
    const moves = await pool.all('select 1 from unfinished_move');
    return {
      ...target,
      isNew: false,
      isUnfinished: moves.length > 0,
      turns,
      bytes,
      unclean: rows.map(({ relation }) => `${place.schema}.${relation}`),
    };
  } finally {
    await pool.close();
  }
}

/** What a spool holds, without opening it for writing. Throws `StoreError` when it cannot be read. */
export function inspectSpool(file: string): {
  readonly turns: number;
  readonly bytes: number;
  readonly since: number | undefined;
  /** Spools that could not be read and were put beside it. */
  readonly damaged: readonly string[];
} {
  const dir = dirname(file);
  const damaged = existsSync(dir)
    ? readdirSync(dir)
        .filter((name) => name.startsWith(`${basename(file)}.damaged-`))
        .map((name) => join(dir, name))
    : [];
  if (!existsSync(file)) return { turns: 0, bytes: 0, since: undefined, damaged };
  const [row] = peekInto(file, { busyMs: 2_000 }, (rows) =>
    rows(
      ['turns', 'bytes', 'since'],
      "select coalesce(sum(part = 'end'), 0) as turns, coalesce(sum(length(body)), 0) as bytes, min(at) as since from rows",
    ),
  );
  const [turns, bytes, since] = row ?? [];
  return {
    turns: Number(turns ?? 0),
    bytes: Number(bytes ?? 0),
    since: since === null || since === undefined ? undefined : Number(since),
    damaged,
  };
}
