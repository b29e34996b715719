import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRandom } from '../../../../src/base/random.ts';
import { asString } from '../../../../src/core/json.ts';
import { countOf } from '../../../support/counts.ts';
import { PROGRAM } from './bigram-server.ts';
import {
  type Client,
  createClient,
  createModel,
  createSession,
  datum,
  stepBody,
  TEST_KEY,
  trainBody,
} from './tinker-client.ts';

const root = path.resolve(import.meta.dirname, '../../../..');
const KILLS = Number(process.env.KILL_CYCLES ?? countOf(4, 20));
const STEPS = 2 * KILLS;
let work = '';
let build = '';
let program = '';

beforeAll(() => {
  work = mkdtempSync(path.join(tmpdir(), 'instar-kill-'));
  // The program runs outside of vitest, so that it is bundled to JavaScript first. It lies where Node finds the packages.
  build = mkdtempSync(path.join(root, 'node_modules', '.instar-kill-'));
  program = path.join(build, PROGRAM);
  const bundler = path.join(root, 'node_modules/rolldown/bin/cli.mjs');
  const entry = path.join(import.meta.dirname, 'bigram-server.ts');
  const options = ['--platform', 'node', '--format', 'esm', '--external', '@photostructure/sqlite'];
  execFileSync(process.execPath, [bundler, entry, ...options, '-o', program], { cwd: root });
});
afterAll(() => {
  for (const folder of [work, build]) rmSync(folder, { recursive: true, force: true });
});

const startChild = (folder: string): Promise<{ readonly child: ChildProcess; readonly url: string }> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, folder, '0', '2', TEST_KEY], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let errors = '';
    child.stderr.on('data', (chunk: Buffer) => {
      errors += chunk.toString();
    });
    child.stdout.once('data', (chunk: Buffer) =>
      resolve({ child, url: chunk.toString().trim().split(' ')[1] ?? '' }),
    );
    child.once('exit', (code) => reject(new Error(`exit ${code}: ${errors}`)));
  });

/**
 * Trains as a client does: gradients in two parts, a step, sometimes a checkpoint; the next step is sent before the last has
 * ended. A request without a reply is sent again; the result of an accepted one is only polled.
 */
async function train(
  client: Client,
  model: string,
): Promise<{ readonly weights: Buffer; readonly losses: readonly unknown[] }> {
  const losses: unknown[] = [];
  let seq = 0;
  let last: Promise<unknown> = Promise.resolve();
  for (let step = 0; step < STEPS; step++) {
    const sent = [0, 1].map((part) => {
      const tokens = [(step + part) % 16, (step * 3 + part) % 16, 5];
      return client.outcome('forward_backward', trainBody(model, ++seq, [datum(tokens, [1, 0.5, 2])]));
    });
    sent.push(client.outcome('optim_step', stepBody(model, ++seq, 0.05)));
    if (step % 7 === 3)
      sent.push(client.outcome('save_weights', { model_id: model, seq_id: ++seq, path: `step-${step}` }));
    const all = Promise.all(sent).then(([first]) => {
      losses[step] = first?.metrics;
    });
    await last;
    last = all;
  }
  await last;
  const { path: saved } = await client.outcome('save_weights_external', {
    model_id: model,
    seq_id: ++seq,
    path: 'last',
  });
  const [, name] = (asString(saved) ?? '').split('tinker://');
  const [run = '', ...rest] = (name ?? '').split('/');
  const { body } = await client.send(
    'GET',
    `training_runs/${run}/checkpoints/${rest.join('/')}/external_weights_urls`,
  );
  const url =
    asString((body.urls as Record<string, string> | undefined)?.['adapter_model.safetensors']) ?? '';
  return { weights: Buffer.from(await (await fetch(url)).arrayBuffer()), losses };
}

describe('a server that is killed repeatedly while a client trains', () => {
  it(`ends with the same weights and losses as without ${KILLS} kills`, {
    timeout: 240_000,
  }, async () => {
    const calm = await startChild(path.join(work, 'calm'));
    const peaceful = createClient(() => calm.url);
    const expected = await train(peaceful, await createModel(peaceful, await createSession(peaceful)));
    calm.child.kill('SIGKILL');

    const folder = path.join(work, 'killed');
    let { child, url } = await startChild(folder);
    let isTraining = true;
    let kills = 0;
    let acknowledged = 0;
    const client = createClient(
      () => url,
      () => isTraining,
    );
    const counted: Client = {
      ...client,
      outcome: async (route, body) => {
        const outcome = await client.outcome(route, body);
        acknowledged++;
        return outcome;
      },
    };
    const model = await createModel(counted, await createSession(counted));
    const killed = train(counted, model).finally(() => {
      isTraining = false;
    });
    const random = createRandom('kills');
    const progress: number[] = [];
    while (isTraining && kills < KILLS) {
      // Somewhere in the work of about one step: counted in answers, and then at any moment.
      const until = acknowledged + random.below(4);
      while (isTraining && acknowledged < until) await new Promise((resolve) => setTimeout(resolve, 1));
      await new Promise((resolve) => setTimeout(resolve, random.below(12)));
      if (!isTraining) break;
      child.kill('SIGKILL');
      await new Promise((resolve) => child.once('exit', resolve));
      kills++;
      progress.push(acknowledged);
      ({ child, url } = await startChild(folder));
    }
    const actual = await killed;
    child.kill('SIGKILL');
    expect(kills).toBeGreaterThanOrEqual(KILLS);
    // The kills fell into the training, not before or after it.
    expect(new Set(progress).size).toBeGreaterThan(kills / 3);
    expect(actual.losses).toEqual(expected.losses);
    expect(actual.weights.equals(expected.weights)).toBe(true);
    expect(actual.weights.length).toBeGreaterThan(1000);
  });
});
