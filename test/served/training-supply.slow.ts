import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asObject, type JsonObject, parseJson } from '../../src/core/json.ts';
import { runCli } from '../cli/run-cli.ts';
import { ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { watchModules } from '../support/loaded-modules.ts';
import { GRADING, LARGEST_EFFECT, recordHeldOut, recordTasks } from './record-tasks.ts';

const modules = watchModules();
// With a provider the daemon does not start its engine before someone asks for it.
const home = makeHome({
  providers: { fake: { wire: 'openai', baseUrl: 'http://127.0.0.1:9/v1', keyEnv: 'NO_SUCH_KEY' } },
  models: { default: 'fake/model', evolver: 'off', judge: 'off' },
  learn: GRADING,
  train: { amount: 'light', effect: LARGEST_EFFECT },
});
let daemon: RunningDaemon;
beforeAll(async () => {
  daemon = await startDaemon(home.dir, [], modules.env);
});
afterAll(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.exited;
  home.remove();
  modules.remove();
});

const call = async (route: string, body?: JsonObject): Promise<JsonObject> => {
  const headers = { authorization: `Bearer ${daemon.ownerKey}` };
  const answer = await ask(daemon.port, {
    path: route,
    headers,
    ...(body === undefined ? { method: 'GET' } : { body: JSON.stringify(body) }),
  });
  return asObject(parseJson(answer.text));
};
const status = async (): Promise<string> =>
  (await runCli(['train', 'status', '--home', home.dir], { COLUMNS: '200' })).stdout;
/** Descriptions are kept for a few seconds. */
const supplyWhere = async (holds: (supply: JsonObject) => boolean): Promise<JsonObject> => {
  let supply: JsonObject = {};
  await expect
    .poll(
      async () => {
        supply = asObject((await call('/api/train')).supply);
        return holds(supply);
      },
      { timeout: 60_000 },
    )
    .toBe(true);
  return supply;
};

const WORDS = [
  'orders',
  'bridge',
  'garden',
  'museum',
  'harbour',
  'school',
  'letters',
  'repairs',
  'trip',
  'kitchen',
];
/** Few words in common, or they were one task. */
const TASKS = WORDS.map((word, at) =>
  JSON.stringify({
    prompt: `${word}: what is ${at + 3} times ${at + 11}?`,
    domain: word,
    check: { kind: 'number', value: (at + 3) * (at + 11) },
  }),
).join('\n');

describe('a home with a training engine', { timeout: 300_000 }, () => {
  it('with nothing to train on trains nothing: the engine is not started, and nothing is spent', async () => {
    expect(await call('/api/train/run', {})).toMatchObject({ started: false });
    const { supply, engineState } = await call('/api/train');
    expect(engineState).toBe('idle');
    expect(existsSync(path.join(home.dir, 'engine'))).toBe(false);
    expect(supply).toMatchObject({ ready: [], most: { tokens: 0, usd: 0 } });
    expect(existsSync(path.join(home.dir, 'train'))).toBe(false);
    const { budget } = await call('/api/schedule');
    expect(asObject(budget).spent).toMatchObject({ tokens: 0, usd: 0 });
    expect([...modules.list()].some((url) => url.endsWith('/train/training-thread.js'))).toBe(false);
    expect(await status()).toContain('instar practice tasks --add FILE.jsonl');
  });

  it('counts recorded questions once a verifier can grade them, and says when and for how much they train', async () => {
    await recordTasks(daemon.port, daemon.key);
    await recordHeldOut(daemon.port, daemon.key);
    const supply = await supplyWhere(({ recorded }) => Number(asObject(recorded).train) > 0);
    expect(supply).toMatchObject({
      ready: ['recorded'],
      recorded: { canGrade: true, heldOut: expect.any(Number) },
      most: { usd: 0, isPriced: true, tokens: expect.any(Number) },
    });
    const text = await status();
    expect(text).toMatch(/recorded questions: \d+ tasks \(\d+ to train on, [1-9]\d* held out\)/);
    expect(text).toMatch(/instar train run/);
    expect(text).toMatch(/no money; at most [\d,]+ tokens/);
  });

  it('counts tasks of practice, and names the setting that lets them train', async () => {
    const { added, faults } = await call('/api/practice/add', { text: TASKS, file: 'tasks.jsonl' });
    expect([added, faults]).toEqual([WORDS.length, []]);
    const supply = await supplyWhere(({ practice }) => Number(asObject(practice).withCheck) > 0);
    expect(supply).toMatchObject({
      practice: { tasks: WORDS.length, withCheck: WORDS.length, byPolicy: false },
    });
    expect(await status()).toContain('set models.practice to "instar/nano"');
  });

  it('is trained on them without any module of the laboratory, in the daemon or its threads', async () => {
    const { code, stdout } = await runCli(['train', 'run', '--steps', '1', '--home', home.dir]);
    expect([code, stdout]).toEqual([0, expect.stringContaining('step 1 of 1')]);
    const loaded = [...modules.list()];
    for (const needed of ['/daemon/daemon.js', '/train/training-thread.js', '/train/training-window.js'])
      expect(loaded.filter((url) => url.endsWith(needed))).toHaveLength(1);
    expect(loaded.filter((url) => url.includes('/lab/'))).toEqual([]);
  });
});
