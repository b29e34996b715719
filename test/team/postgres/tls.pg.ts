import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PostgresServer, startPostgres } from '../../../lab/measure/postgres-server.ts';
import { readPgUrl } from '../../../src/record/pg-place.ts';
import { openPgPool } from '../../../team/postgres/pg-connection.ts';
import { openPgStore } from '../../../team/postgres/pg-store.ts';
import { scratch } from '../../record/store/scratch.ts';
import { needPostgres } from '../../support/need-postgres.ts';

const bin = needPostgres();
let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres(bin, true, true);
});
afterAll(() => server.stop());

const at = (host: string, options: string): string =>
  `${server.url('postgres').replace('127.0.0.1', host)}?${options}`;
const isEncrypted = async (url: string): Promise<boolean> => {
  const pool = openPgPool(readPgUrl(url));
  try {
    const [row] = await pool.all<{ ssl: boolean }>(
      'select ssl from pg_stat_ssl where pid = pg_backend_pid()',
    );
    return row?.ssl === true;
  } finally {
    await pool.close();
  }
};

describe('TLS to PostgreSQL', () => {
  it('encrypts, and verifies the certificate and the name of the host as asked', async () => {
    const root = `sslrootcert=${server.certificate}`;
    expect(await isEncrypted(at('localhost', `sslmode=verify-full&${root}`))).toBe(true);
    expect(await isEncrypted(at('127.0.0.1', `sslmode=verify-ca&${root}`))).toBe(true);
    expect(await isEncrypted(at('127.0.0.1', 'sslmode=require'))).toBe(true);
    expect(await isEncrypted(at('127.0.0.1', 'sslmode=disable'))).toBe(false);
  });

  it('refuses a certificate that nobody vouched for, of another host, and of another authority', async () => {
    const other = join(scratch(), 'other.crt');
    const kind = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost'];
    execFileSync('openssl', [...kind, '-keyout', `${other}.key`, '-out', other], { stdio: 'ignore' });
    for (const url of [
      at('localhost', 'sslmode=verify-full'),
      at('127.0.0.1', `sslmode=verify-full&sslrootcert=${server.certificate}`),
      at('localhost', `sslmode=verify-ca&sslrootcert=${other}`),
    ])
      await expect(openPgStore({ url })).rejects.toThrow(/^TLS to PostgreSQL .* sslrootcert=FILE/);
  });
});
