import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type PostgresServer, startPostgres } from '../../lab/measure/postgres-server.ts';
import { openPgReader } from '../../src/record/postgres/pg-store.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { needPostgres } from '../support/need-postgres.ts';
import { type RunningWorker, startWorker } from '../support/worker.ts';
import { GRADING, LARGEST_EFFECT, recordHeldOut, recordTasks } from './record-tasks.ts';

const bin = needPostgres();
let server: PostgresServer;
let url = '';
let gateway: RunningDaemon;
const homes: ReturnType<typeof makeHome>[] = [];
const workers: RunningWorker[] = [];

const newHome = (schedule: object) => {
  const home = makeHome({
    store: { url },
    train: { batchSize: 16, groupSize: 8, effect: LARGEST_EFFECT },
    learn: GRADING,
    schedule,
  });
  homes.push(home);
  return home;
};
const NEVER = { sleep: 'off', idleMinutes: 1440 };
const ALWAYS = { sleep: '00:00-24:00' };

beforeAll(async () => {
  server = await startPostgres(bin, true);
  url = server.freshUrl();
  gateway = await startDaemon(newHome(NEVER).dir);
  await recordTasks(gateway.port, gateway.key);
  await recordHeldOut(gateway.port, gateway.key);
}, 180_000);
afterAll(async () => {
  for (const { child } of [gateway, ...workers]) child.kill('SIGTERM');
  for (const { exited } of [gateway, ...workers]) await exited;
  for (const home of homes) home.remove();
  await server.stop();
}, 60_000);

describe('a worker with an engine', () => {
  it('trains', async () => {
    const worker = await startWorker(newHome(ALWAYS).dir, ['--only', 'training']);
    workers.push(worker);
    const reader = await openPgReader(url);
    await vi.waitFor(
      async () => {
        const facts = await reader.facts(0, 100_000);
        const types = new Map<string, number>();
        for (const { fact } of facts) types.set(fact.type, (types.get(fact.type) ?? 0) + 1);
        process.stderr.write(`${JSON.stringify([...types])}\n${worker.log().slice(-1500)}\n`);
        expect(types.get('job-checkpointed') ?? 0).toBeGreaterThan(0);
      },
      { timeout: 240_000, interval: 10_000 },
    );
    await reader.close();
  }, 300_000);
});
