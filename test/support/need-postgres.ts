import { findPostgres } from '../../lab/measure/postgres-server.ts';

/** The programs of a server. These tests fail without one: a skipped test proves nothing. */
export function needPostgres(): string {
  const bin = findPostgres();
  if (bin === undefined)
    throw new Error(
      'This machine has no PostgreSQL 14 or newer. Install one (Debian: apt-get install postgresql), or name the folder of initdb in INSTAR_TEST_POSTGRES_BIN.',
    );
  return bin;
}
