import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type PostgresServer, startPostgres } from '../../lab/measure/postgres-server.ts';
import { readPgUrl } from '../../src/record/pg-place.ts';
import { openPgPool, type PgPool } from '../../team/postgres/pg-connection.ts';
import { migratePg, PG_MIGRATIONS, readPgVersion } from '../../team/postgres/pg-schema.ts';
import { openPgReader } from '../../team/postgres/pg-store.ts';
import { runCli } from '../cli/run-cli.ts';
import { ask } from '../support/client.ts';
import { makeHome, startDaemon } from '../support/daemon.ts';
import { needPostgres } from '../support/need-postgres.ts';
import { startProvider } from '../support/provider.ts';
import { wholeReply } from '../support/samples.ts';

const bin = needPostgres();
let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres(bin);
});
afterAll(() => server.stop());

const FIRST = readFileSync(path.join(import.meta.dirname, 'postgres-version-1.sql'), 'utf8');
const NEWEST = PG_MIGRATIONS.length;
/** What version 1 had, by table. */
const TABLES = {
  facts: 'seq',
  bodies: 'seq',
  blocks: 'hash',
  block_uses: 'session',
  fact_keys: 'seq',
  sessions: 'n',
  turns: 'n',
  rewards: 'seq',
} as const;

/** A record of version 1 in a new schema. */
async function openFirst(): Promise<{ readonly url: string; readonly pool: PgPool }> {
  const url = server.freshUrl();
  const pool = openPgPool(readPgUrl(url));
  onTestFinished(() => pool.close());
  await pool.exec(FIRST.replaceAll('version_1', pool.place.schema));
  expect(await readPgVersion(pool, NEWEST)).toBe(1);
  return { url, pool };
}

async function rowsOf(pool: PgPool): Promise<Readonly<Record<string, readonly string[]>>> {
  const read = Object.entries(TABLES).map(async ([table, order]) => {
    const rows = await pool.all<{ row: string }>(
      `select to_jsonb(r)::text as row from ${table} r order by ${order}`,
    );
    return [table, rows.map(({ row }) => row)] as const;
  });
  return Object.fromEntries(await Promise.all(read));
}

describe('a record of schema version 1 in PostgreSQL', () => {
  it('is migrated once by six processes that start together, row for row, and again by none', async () => {
    const { url, pool } = await openFirst();
    const before = await rowsOf(pool);
    expect(before.facts).toHaveLength(32);
    await Promise.all(
      Array.from({ length: 6 }, async () => {
        const own = openPgPool(readPgUrl(url));
        await migratePg(own).finally(() => own.close());
      }),
    );
    expect(await readPgVersion(pool, NEWEST)).toBe(NEWEST);
    expect(await rowsOf(pool)).toEqual(before);
    await migratePg(pool);
    const reader = await openPgReader(url);
    onTestFinished(() => reader.close());
    expect(await reader.check()).toEqual([]);
  });

  it('stays at version 1, whole, when a step fails', async () => {
    const { pool } = await openFirst();
    const before = await rowsOf(pool);
    const broken = [...PG_MIGRATIONS, 'create table half(a int); select nonsense from nowhere'];
    await expect(migratePg(pool, broken)).rejects.toThrow(/nowhere/);
    expect(await readPgVersion(pool, NEWEST)).toBe(1);
    expect(await rowsOf(pool)).toEqual(before);
    await migratePg(pool);
    expect(await rowsOf(pool)).toEqual(before);
  });

  it('is served by two daemons that start at the same time: nothing is lost, its lesson is shown, its sessions are listed, shown and erased', async () => {
    const { url, pool } = await openFirst();
    const before = await rowsOf(pool);
    const provider = await startProvider((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(wholeReply('openai-chat'));
    });
    onTestFinished(() => provider.close());
    const homes = [1, 2].map(() =>
      makeHome({
        providers: { shop: { wire: 'openai-chat', baseUrl: `${provider.url}/v1` } },
        models: { default: 'shop/clerk-1', evolver: 'off', judge: 'off' },
        // The sessions are of 2026 whenever this runs.
        store: { url, keepDays: 0 },
      }),
    );
    onTestFinished(() => {
      for (const home of homes) home.remove();
    });
    const daemons = await Promise.all(homes.map(({ dir }) => startDaemon(dir)));
    onTestFinished(async () => {
      for (const { child, exited } of daemons) {
        child.kill('SIGTERM');
        await exited;
      }
    });
    expect(await readPgVersion(pool, NEWEST)).toBe(NEWEST);
    for (const [nth, { port, key }] of daemons.entries()) {
      const task = `Write the invoice amounts of month ${nth} into report.md`;
      const { status } = await ask(port, {
        path: '/v1/chat/completions',
        headers: {
          authorization: `Bearer ${key}`,
          'x-instar-agent': 'bookkeeper',
          'x-instar-session': `new-${nth}`,
        },
        body: JSON.stringify({ model: 'clerk-1', messages: [{ role: 'user', content: task }] }),
      });
      expect(status).toBe(200);
      const asked = provider.seen.map(({ body }) => body.toString()).find((text) => text.includes(task));
      expect(asked).toContain('unit behind every amount');
    }
    const after = await rowsOf(pool);
    for (const table of ['facts', 'bodies', 'blocks', 'turns', 'rewards', 'fact_keys'])
      expect(after[table]).toEqual(expect.arrayContaining([...(before[table] ?? [])]));
    const cli = async (home: string, ...args: readonly string[]): Promise<string> => {
      const { code, stdout, stderr } = await runCli([...args, '--home', home]);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      return stdout;
    };
    const [first = '', second = ''] = homes.map(({ dir }) => dir);
    for (const home of [first, second]) {
      const listed = await cli(home, 'sessions', 'list');
      for (const session of ['bills-May', 'bills-June', 'bills-July', 'long-1'])
        expect(listed).toContain(session);
      expect(listed).toMatch(/gone-1 .+\(erased\)/);
      expect(await cli(home, 'sessions', 'show', 'long-1', '--full')).toContain('Which orders are open?');
    }
    await cli(first, 'sessions', 'erase', 'long-1', '--yes');
    expect(await cli(second, 'sessions', 'list')).toMatch(/long-1 .+\(erased\)/);
    const reader = await openPgReader(url);
    onTestFinished(() => reader.close());
    expect(await reader.check()).toEqual([]);
  });
});
