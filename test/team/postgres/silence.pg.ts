import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type PostgresServer, startPostgres } from '../../../lab/measure/postgres-server.ts';
import { readPgUrl } from '../../../src/record/pg-place.ts';
import { openPgPool } from '../../../team/postgres/pg-connection.ts';
import { openPgStore } from '../../../team/postgres/pg-store.ts';
import { at, end, start } from '../../record/store/facts.ts';
import { needPostgres } from '../../support/need-postgres.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';

const bin = needPostgres();
let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres(bin, true);
});
afterAll(() => server.stop());

/** A store behind a network that can fall silent, and a connection beside that network. */
async function openBehindProxy() {
  const proxy = await startTcpProxy(server.port);
  const direct = server.freshUrl();
  const store = await openPgStore({ url: direct.replace(`:${server.port}/`, `:${proxy.port}/`) });
  const pool = openPgPool(readPgUrl(direct), { most: 2 });
  onTestFinished(async () => {
    proxy.heal();
    await store.close();
    await pool.close();
    await proxy.close();
  });
  const facts = at(1_800_000_000_000, start('t1', 's1'), end('t1'), start('t2', 's2'), end('t2'));
  await store.append({
    facts,
    blocks: [
      { hash: 'aa', text: 'words of a session', session: 's1' },
      { hash: 'ab', text: 'words of another', session: 's2' },
    ],
  });
  return { proxy, store, pool };
}

describe('an erasure over a network that falls silent', () => {
  it('is refused when it has not begun', async () => {
    const { proxy, store, pool } = await openBehindProxy();
    proxy.cut('silent');
    await expect(store.erase('s1', 1_800_000_000_100, 'asked')).rejects.toMatchObject({ code: 'away' });
    expect(await pool.all('select erased from sessions where id = $1', ['s1'])).toEqual([{ erased: false }]);
  }, 45_000);

  it('ends when it is committed and only the rewriting of its tables is not answered', async () => {
    const { proxy, store, pool } = await openBehindProxy();
    const reader = await pool.hold(() => undefined);
    // The rewrite waits for this reader.
    await reader.run('begin');
    await reader.all('select count(*) from blocks');
    const erasing = store.erase('s1', 1_800_000_000_100, 'asked');
    await expect
      .poll(() => pool.all('select erased from sessions where id = $1', ['s1']), { timeout: 20_000 })
      .toEqual([{ erased: true }]);
    proxy.cut('silent');
    await reader.run('rollback');
    reader.release();
    await expect(erasing).resolves.toMatchObject({ turns: 1 });
    // What was not rewritten is known, and the next erasure does it.
    expect(await pool.all('select relation from unclean')).not.toEqual([]);
    proxy.heal();
    await store.erase('s2', 1_800_000_000_200, 'asked');
    expect(await pool.all('select relation from unclean')).toEqual([]);
  }, 90_000);
});
