import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type PostgresServer, startPostgres } from '../../../lab/measure/postgres-server.ts';
import { createRandom } from '../../../src/base/random.ts';
import type { LogFollower } from '../../../src/core/log-follower.ts';
import { readPgUrl } from '../../../src/record/pg-place.ts';
import { followPgLog } from '../../../team/postgres/follow-pg-log.ts';
import { openPgPool } from '../../../team/postgres/pg-connection.ts';
import { openPgStore } from '../../../team/postgres/pg-store.ts';
import { at, end, start } from '../../record/store/facts.ts';
import { needPostgres } from '../../support/need-postgres.ts';

const bin = needPostgres();
let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres(bin, true);
});
afterAll(() => server.stop());

const rejected = (error: unknown): never => {
  throw error;
};
const follow = (url: string, seen: number[], types: Parameters<LogFollower['on']>[0], after?: number) => {
  const pool = openPgPool(readPgUrl(url), { most: 1 });
  const follower = followPgLog({
    pool,
    onFault: rejected,
    lookMs: 200,
    ...(after === undefined ? {} : { after }),
  });
  follower.on(types, async ({ seq }) => void seen.push(seq));
  onTestFinished(async () => {
    await follower.close();
    await pool.close();
  });
  return follower;
};
const upTo = (n: number): readonly number[] => Array.from({ length: n }, (_, index) => index + 1);

describe('followers of a log in PostgreSQL', () => {
  it.each([1, 2, 3])(
    'see every fact once and in order, with several writers and connections that are cut (seed %i)',
    async (seed) => {
      const random = createRandom(`follow ${seed}`);
      const url = server.freshUrl();
      const stores = await Promise.all([0, 1, 2].map(() => openPgStore({ url })));
      onTestFinished(() => void Promise.all(stores.map((store) => store.close())));
      const seen: number[][] = [[], [], []];
      const followers = seen.map((list) => follow(url, list, ['turn-start', 'turn-end'], 0));
      const admin = openPgPool(readPgUrl(url), { most: 1 });
      onTestFinished(() => admin.close());
      let cuts = 0;
      let isOver = false;
      const cutting = (async () => {
        while (!isOver) {
          // Of anybody: a writer in the middle of a batch, too.
          const killed = await admin.run(
            `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'instar'
               and pid <> pg_backend_pid() and random() < 0.3`,
          );
          cuts += killed;
          await new Promise((resolve) => setTimeout(resolve, 20 + random.next() * 60));
        }
      })();
      await Promise.all(
        stores.map(async (store, writer) => {
          for (let nth = 0; nth < 40; nth++) {
            const turn = `w${writer}.${nth}`;
            const facts = at(
              1_800_000_000_000,
              start(turn, `s${nth % 3}`),
              ...(random.next() < 0.5 ? [end(turn)] : []),
            );
            // After a lost answer the same batch again: it is not doubled.
            for (;;)
              try {
                await store.append({ facts });
                break;
              } catch (error) {
                expect(error).toMatchObject({ name: 'StoreError' });
              }
          }
        }),
      );
      isOver = true;
      await cutting;
      const facts = (await stores[0]?.totals())?.facts ?? 0;
      expect(facts).toBeGreaterThanOrEqual(120);
      expect(cuts).toBeGreaterThan(3);
      for (const follower of followers) await expect.poll(() => follower.seq()).toBe(facts);
      for (const list of seen) expect(list).toEqual(upTo(facts));
    },
  );

  it('pass over facts that nobody listens for without a query, and miss none of the others', async () => {
    const url = server.freshUrl();
    const store = await openPgStore({ url });
    onTestFinished(() => store.close());
    const seen: number[] = [];
    const follower = follow(url, seen, ['session-erased']);
    await expect.poll(() => follower.seq()).toBe(0);
    for (let nth = 0; nth < 20; nth++) await store.append({ facts: at(nth, start(`t${nth}`, 's')) });
    await expect.poll(() => follower.seq()).toBe(20);
    expect(seen).toEqual([]);
    await store.erase('s', 30, 'asked');
    await expect.poll(() => seen).toEqual([21]);
  });

  it('begin after the head, hear of it once, and go on when the server was away', async () => {
    const own = await startPostgres(bin, true);
    onTestFinished(() => own.stop());
    const url = own.freshUrl();
    const store = await openPgStore({ url });
    onTestFinished(() => store.close());
    await store.append({ facts: at(1, start('old', 's')) });
    const seen: number[] = [];
    let begun = 0;
    const follower = follow(url, seen, ['turn-start']);
    follower.onBegun(async () => void begun++);
    await expect.poll(() => follower.seq()).toBe(1);
    await own.kill();
    await expect.poll(() => follower.problem()).toBeDefined();
    await own.start();
    await store.append({ facts: at(2, start('new', 's')) });
    await expect.poll(() => seen, { timeout: 30_000 }).toEqual([2]);
    expect(begun).toBe(1);
    expect(follower.problem()).toBeUndefined();
  });
});
