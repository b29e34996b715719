import { replaceFileSync } from '../src/base/atomic-file.ts';
import type { Log } from '../src/base/log.ts';
import { isPgUrl, readPgUrl } from '../src/record/pg-place.ts';
import { readOrCreateSalt } from '../src/redact/salt.ts';

/**
 * The HMAC key of redaction marks and of callers' ids. All gateways of a database have the same one, so that a secret has the
 * same mark and a caller the same id everywhere: that of the first home. The file of the home is its copy, which is used
 * while the database is away.
 */
export async function readSharedSalt(
  place: string,
  home: { readonly saltFile: string },
  log?: Log,
): Promise<string> {
  const own = readOrCreateSalt(home);
  if (!isPgUrl(place)) return own;
  try {
    const shared = await shareSalt(place, own);
    if (shared !== own) replaceFileSync(home.saltFile, `${shared}\n`);
    return shared;
  } catch (error) {
    log?.warn(
      { err: error },
      'the salt of the database cannot be read: redaction marks are those of this home until the next start',
    );
    return own;
  }
}

const CONNECT_MS = 2_000;

/** The first one wins. */
async function shareSalt(url: string, own: string): Promise<string> {
  const { openPgPool } = await import('./postgres/pg-connection.ts');
  const { migratePg } = await import('./postgres/pg-schema.ts');
  const pool = openPgPool(readPgUrl(url), { most: 1, connectMs: CONNECT_MS, queryMs: CONNECT_MS });
  try {
    await migratePg(pool);
    await pool.run(`insert into shared_values(name, value) values('salt', $1) on conflict do nothing`, [own]);
    const [row] = await pool.all<{ value: string }>(`select value from shared_values where name = 'salt'`);
    return row?.value ?? own;
  } finally {
    await pool.close();
  }
}
