import { describePlace, readPgUrl } from '../../src/record/pg-place.ts';
import { openPgPool } from './pg-connection.ts';
import { createPgReader } from './pg-reader.ts';
import { checkPgServer, PG_MIGRATIONS, readPgVersion } from './pg-schema.ts';

export interface PgInspection {
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
export async function inspectPg(url: string): Promise<PgInspection> {
  const place = readPgUrl(url);
  const pool = openPgPool(place, { most: 1, queryMs: 10_000 });
  try {
    const server = await checkPgServer(pool);
    const nothing = { turns: 0, bytes: 0, unclean: [], isUnfinished: false };
    const known = { where: describePlace(place), server };
    if ((await readPgVersion(pool, PG_MIGRATIONS.length)) === 0) return { ...known, ...nothing, isNew: true };
    const { turns, bytes } = await createPgReader(pool).totals();
    const rows = await pool.all<{ relation: string }>('select relation from unclean order by relation');
    const moves = await pool.all('select 1 from unfinished_move');
    return {
      ...known,
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
