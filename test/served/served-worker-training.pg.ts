import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type PostgresServer, startPostgres } from '../../lab/measure/postgres-server.ts';
import { openPgReader } from '../../src/record/postgres/pg-store.ts';
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
    train: { batchSize: 16, groupSize: 8, effect: LARGEST_EFFECT, steps: 6 },
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

/** The facts of the job, each a line. */
async function jobFacts(): Promise<readonly string[]> {
  const reader = await openPgReader(url);
  try {
    const facts = (await reader.facts(0, 100_000)).map(({ fact }) => fact);
    return facts.flatMap((fact) =>
      (fact.type === 'job-leased' || fact.type === 'job-ended') && fact.job === 'training'
        ? [`${fact.type} ${JSON.stringify(fact)}`]
        : fact.type === 'job-checkpointed'
          ? [`${fact.type} ${JSON.stringify(fact).slice(0, 300)}`]
          : fact.type === 'cycle-end' && fact.learner === 'trainer'
            ? [`trained ${JSON.stringify(fact)}`]
            : [],
    );
  } finally {
    await reader.close();
  }
}
const SOON = { timeout: 150_000, interval: 250 };

describe('a worker with an engine', () => {
  it('trains on what a gateway recorded; when it is killed another one goes on', async () => {
    const worker = await startWorker(newHome(ALWAYS).dir, ['--only', 'training']);
    workers.push(worker);
    await vi.waitFor(async () => expect((await jobFacts()).join()).toContain('job-checkpointed'), SOON);
    worker.child.kill('SIGKILL');
    await worker.exited;
    const second = await startWorker(newHome(ALWAYS).dir, ['--only', 'training']);
    workers.push(second);
    try {
      await vi.waitFor(async () => expect((await jobFacts()).join()).toContain('job-ended'), SOON);
    } finally {
      process.stderr.write(`${(await jobFacts()).join('\n')}\n${second.log().slice(-2000)}\n`);
    }
  }, 600_000);
});
