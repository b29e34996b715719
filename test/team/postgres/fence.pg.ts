import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type PostgresServer, startPostgres } from '../../../lab/measure/postgres-server.ts';
import { createIds } from '../../../src/base/ids.ts';
import { systemClock } from '../../../src/core/clock.ts';
import type { Fence } from '../../../src/core/jobs.ts';
import type { NewFact } from '../../../src/core/store.ts';
import { type Jobs, openJobs } from '../../../src/jobs/open-jobs.ts';
import { readPgUrl } from '../../../src/record/pg-place.ts';
import { createRecorder } from '../../../src/record/recorder.ts';
import { openPgPool, type PgPool } from '../../../team/postgres/pg-connection.ts';
import { openPgStore } from '../../../team/postgres/pg-store.ts';
import { at, end, start } from '../../record/store/facts.ts';
import { needPostgres } from '../../support/need-postgres.ts';

const RIGHT = 'learning';
const LONG_MS = 600_000;
const bin = needPostgres();
let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres(bin, true);
});
afterAll(() => server.stop());

const jobsOf = (place: string): Jobs => {
  const jobs = openJobs({ place, clock: systemClock, newId: createIds(systemClock) });
  onTestFinished(() => jobs.close());
  return jobs;
};
const poolOf = (url: string): PgPool => {
  const pool = openPgPool(readPgUrl(url));
  onTestFinished(() => pool.close());
  return pool;
};
const storeOf = async (url: string) => {
  const store = await openPgStore({ url });
  onTestFinished(() => store.close());
  return store;
};
/** The right of one process, and the fence of what it writes. */
const take = async (jobs: Jobs, leaseMs: number): Promise<Fence> => {
  const lease = await jobs.leases.take([RIGHT], leaseMs);
  if (lease === undefined) throw new Error('somebody else has the right');
  return { right: RIGHT, number: lease.fence };
};
const expire = (pool: PgPool) => pool.run(`update ${pool.place.schema}_jobs.leases set until = now()`);
const withFence = (facts: readonly NewFact[], fence: Fence): readonly NewFact[] =>
  facts.map((one) => ({ ...one, fence }));

describe('what only the holder of a right may write', () => {
  it('is refused as a whole once another process has the right, also where the old one does not know it', async () => {
    const url = server.freshUrl();
    const store = await storeOf(url);
    const pool = poolOf(url);
    const [old, next] = [jobsOf(url), jobsOf(url)];
    const before = await take(old, LONG_MS);
    await store.append({ facts: withFence(at(1, start('t1', 's')), before) });
    await expire(pool);
    // Nobody else has taken it yet: it still excludes everybody.
    await store.append({ facts: withFence(at(2, end('t1')), before) });
    const now = await take(next, LONG_MS);
    const late = { facts: [...at(3, start('t2', 's')), ...withFence(at(3, start('t3', 's')), before)] };
    await expect(store.append(late)).rejects.toMatchObject({ name: 'StoreError', code: 'fenced' });
    expect(await store.totals()).toMatchObject({ facts: 2, turns: 1 });
    await store.append({ facts: withFence(at(4, start('t4', 's')), now) });
    expect((await store.facts(0, 9)).map(({ seq }) => seq)).toEqual([1, 2, 3]);
  });

  it('is not passed by a right that changes hands between the comparison and the commit', async () => {
    const url = server.freshUrl();
    const store = await storeOf(url);
    const pool = poolOf(url);
    const [old, next] = [jobsOf(url), jobsOf(url)];
    const before = await take(old, LONG_MS);
    await pool.exec(
      `create function slow() returns trigger language plpgsql as 'begin perform pg_sleep(1.5); return null; end';
       create constraint trigger slow after update on log_head deferrable initially deferred
       for each row execute function slow()`,
    );
    // Its time is over, and nobody has taken it yet.
    await expire(pool);
    const writing = store.append({ facts: withFence(at(1, start('t1', 's')), before) });
    // The comparison is behind it, and its commit sleeps.
    await expect
      .poll(async () => pool.all(`select 1 from pg_stat_activity where wait_event = 'PgSleep'`))
      .toHaveLength(1);
    await take(next, LONG_MS);
    // Who has the right now sees what was written with the old one.
    expect(await store.totals()).toMatchObject({ facts: 1 });
    await writing;
  });

  it('is refused alone: turns of the same moment are recorded, and the database does not count as away', async () => {
    const url = server.freshUrl();
    await storeOf(url);
    const pool = poolOf(url);
    const [old, next] = [jobsOf(url), jobsOf(url)];
    const before = await take(old, LONG_MS);
    await expire(pool);
    await take(next, LONG_MS);
    const recorder = createRecorder({ place: url, keys: [], salt: 'x' }, () => 5);
    onTestFinished(() => recorder.close());
    const [refused, said, alsoRefused] = await Promise.allSettled([
      recorder.append(withFence(at(1, start('t1', 's')), before)),
      recorder.append(at(1, start('t2', 's'))),
      recorder.append(withFence(at(1, start('t3', 's')), before)),
    ]);
    expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'fenced' } });
    expect(alsoRefused).toMatchObject({ status: 'rejected', reason: { code: 'fenced' } });
    expect(said.status).toBe('fulfilled');
    expect(recorder.state()).toMatchObject({ degraded: undefined, spool: undefined, lost: 0 });
    expect(await pool.all('select id from turns')).toEqual([{ id: 't2' }]);
  });
});
