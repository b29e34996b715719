import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type PostgresServer, startPostgres } from '../../lab/measure/postgres-server.ts';
import { openPgReader } from '../../team/postgres/pg-store.ts';
import { ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { needPostgres } from '../support/need-postgres.ts';
import { type RunningWorker, startWorker } from '../support/worker.ts';
import { LARGEST_EFFECT, recordHeldOut, recordTasks } from './record-tasks.ts';
import { lesson } from './training-environment.ts';

const bin = needPostgres();
let server: PostgresServer;
let url = '';
let gateway: RunningDaemon;
const homes: ReturnType<typeof makeHome>[] = [];
const workers: RunningWorker[] = [];

/** Grades by what no reply knows of, so that some attempts are better than others. */
const VERIFIER = `
export function verify({ output }) {
  let sum = 0;
  for (const letter of output) sum = (sum * 31 + letter.charCodeAt(0)) % 997;
  return { status: 'ok', reward: (sum % 11) / 10, reasons: [] };
}
`;
const folder = mkdtempSync(join(tmpdir(), 'instar-verifier-'));
const verifier = join(folder, 'verify.mjs');
const newHome = (schedule: object) => {
  const home = makeHome({
    store: { url },
    train: { amount: 'light', effect: LARGEST_EFFECT },
    learn: { verifiers: [{ domain: '*', kind: 'module', file: verifier }] },
    schedule,
  });
  homes.push(home);
  return home;
};
const NEVER = { sleep: 'off', idleMinutes: 1440 };
const ALWAYS = { sleep: '00:00-24:00' };

beforeAll(async () => {
  writeFileSync(verifier, VERIFIER);
  server = await startPostgres(bin, true);
  url = server.freshUrl();
  gateway = await startDaemon(newHome(NEVER).dir);
  // Weights are trained with lessons: without one there is nothing to train.
  const { status } = await ask(gateway.port, {
    path: '/api/lessons',
    headers: { authorization: `Bearer ${gateway.ownerKey}` },
    body: JSON.stringify(lesson('times', 'Write every time with its offset.')),
  });
  expect(status).toBe(200);
  await recordTasks(gateway.port, gateway.key);
  await recordHeldOut(gateway.port, gateway.key);
}, 180_000);
afterAll(async () => {
  for (const { child } of [gateway, ...workers]) child.kill('SIGTERM');
  for (const { exited } of [gateway, ...workers]) await exited;
  for (const home of homes) home.remove();
  rmSync(folder, { recursive: true });
  await server.stop();
}, 60_000);

/** What the record says of the job, oldest first. */
async function readJob() {
  const reader = await openPgReader(url);
  try {
    const facts = (await reader.facts(0, 100_000)).map(({ fact }) => fact);
    return {
      leases: facts.flatMap((fact) => (fact.type === 'job-leased' ? [fact] : [])),
      steps: facts.flatMap((fact) => (fact.type === 'job-checkpointed' ? [fact] : [])),
      ends: facts.flatMap((fact) => (fact.type === 'job-ended' ? [fact] : [])),
      cycles: facts.filter((fact) => fact.type === 'cycle-end' && fact.learner === 'trainer'),
    };
  } finally {
    await reader.close();
  }
}
const SOON = { timeout: 150_000, interval: 250 };

describe('a worker with an engine', () => {
  it('trains on what a gateway recorded; when it is killed another one goes on with the window', async () => {
    const worker = await startWorker(newHome(ALWAYS).dir, ['--only', 'training']);
    workers.push(worker);
    await vi.waitFor(async () => expect((await readJob()).steps).not.toEqual([]), SOON);
    worker.child.kill('SIGKILL');
    await worker.exited;
    const before = await readJob();
    workers.push(await startWorker(newHome(ALWAYS).dir, ['--only', 'training']));
    await vi.waitFor(async () => expect((await readJob()).ends.at(-1)).toMatchObject({ end: 'done' }), SOON);
    const { leases, steps, ends, cycles } = await readJob();
    // One window, run by one process at a time: the second took it over when the first was gone.
    expect(new Set(leases.map(({ run }) => run)).size).toBe(1);
    expect(new Set(leases.map(({ holder }) => holder)).size).toBe(2);
    expect(ends.map(({ end }) => end)).toEqual(['paused', 'done']);
    expect(steps.length).toBeGreaterThan(before.steps.length);
    expect(new Set(steps.map(({ state }) => state)).size).toBe(steps.length);
    expect(cycles).toHaveLength(1);
  }, 400_000);
});
