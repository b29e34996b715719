import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createRandom } from '../../src/base/random.ts';
import { systemClock } from '../../src/core/clock.ts';
import { openSqliteReader } from '../../src/record/store/sqlite-store.ts';
import { checkPeft } from '../../train/peft-check.ts';
import { isInCanary } from '../../train/promotion.ts';
import { readEngineRecord } from '../../train/start-engine.ts';
import { connectTinker } from '../../train/tinker/connect-tinker.ts';
import { startVllm } from '../models/vllm-server.ts';
import { type Answer, ask } from '../support/client.ts';
import {
  type BedOptions,
  ENGINE_KEY,
  newFolder,
  openTrainingEnvironment,
  removeFolder,
  type TrainingEnvironment,
} from './training-environment.ts';

const SHARE = 0.5;
const NEVER = new AbortController().signal;

async function openBed(options: BedOptions): Promise<TrainingEnvironment> {
  const environment = await openTrainingEnvironment({
    override: { promotion: { canaryShare: SHARE } },
    ...options,
  });
  onTestFinished(() => environment.close());
  return environment;
}

async function start() {
  const dir = newFolder();
  onTestFinished(() => removeFolder(dir));
  const vllm = await startVllm();
  const train = { serve: { vllm: vllm.baseUrl, model: 'base-model' } };
  const environment = await openBed({ dir, train });
  /** A turn that has begun; the server decides when it ends. In a list: who waits for it would wait for its end. */
  const begin = async (on: TrainingEnvironment, session: string): Promise<readonly Promise<Answer>[]> => {
    const before = vllm.streams.size;
    const answer = on.chat('Who are you?', { session });
    await expect.poll(() => vllm.streams.size, { timeout: 10_000 }).toBe(before + 1);
    return [answer];
  };
  const turn = async (session: string, on = environment): Promise<string> => {
    const [answer] = await begin(on, session);
    vllm.endNewest();
    return heard(await answer);
  };
  return { dir, vllm, train, environment, begin, turn };
}

/** By whom it says it was answered, and by whom it was. */
function heard(answer: Answer | undefined): string {
  if (answer?.status !== 200 || !answer.whole)
    throw new Error(`no answer: ${answer?.status} ${answer?.text}`);
  const words = answer.text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)))
    .flatMap(({ choices, model }) => {
      expect(model).toBe('nano');
      return choices.flatMap(({ delta }: { delta: { content?: string } }) => delta.content ?? []);
    });
  const said = [...new Set(words.map((word) => word.trim()))].filter((word) => word !== '');
  expect(words.length).toBeGreaterThan(1);
  return `${answer.headers['x-instar-policy']} ${said.join('+')}`;
}

/** Weights of one step of the real engine, on trial. */
async function propose(environment: TrainingEnvironment, version: number): Promise<void> {
  environment.training.warm();
  const record = () => readEngineRecord(path.join(environment.dir, 'engine'));
  await expect.poll(record, { timeout: 20_000 }).toBeDefined();
  const engine = await connectTinker({
    url: record()?.url ?? '',
    key: ENGINE_KEY,
    baseModel: 'instar-nano',
    profile: 'nano',
    selfTest: false,
    fetch,
    clock: systemClock,
    random: createRandom(`proposed/${version}`),
  });
  const model = await engine.createModel({ rank: 4, seed: version });
  const datum = { tokens: [1, 2, 3], targets: [2, 3, version], weights: [1, 1, 1] };
  const trained = model.forwardBackward({ data: [datum], loss: 'cross_entropy' }, NEVER);
  const stepped = model.optimStep({ learningRate: 1e-3 }, NEVER);
  await Promise.all([trained.done, stepped.done]);
  const sampler = await model.saveForSampler(`proposed-${version}`);
  await engine.close();
  const moves = await (await environment.training.policy.promotions()).tell({
    type: 'proposed',
    served: { version, sampler },
  });
  expect(moves).toMatchObject([{ version, to: 'candidate' }]);
}

const promote = async (environment: TrainingEnvironment): Promise<unknown> =>
  (await environment.api.moveWeights('promote')).map(({ version, to }) => `${version} ${to}`);
const rollBack = async (environment: TrainingEnvironment): Promise<unknown> =>
  (await environment.api.moveWeights('rollback')).map(({ version, to }) => `${version} ${to}`);
const foldersOf = (dir: string): readonly string[] => {
  const parent = path.join(dir, 'train', 'nano', 'adapters');
  return existsSync(parent) ? readdirSync(parent).sort() : [];
};
const loaded = (vllm: { readonly adapters: ReadonlyMap<string, unknown> }): readonly string[] =>
  [...vllm.adapters.keys()].map((name) => name.replace(/^instar-nano-[0-9a-f]{6}-/, '')).sort();
const sessionOf = (version: number, isCanary: boolean): string => {
  for (let number = 0; ; number++)
    if (isInCanary(`s${number}`, version, SHARE) === isCanary) return `s${number}`;
};

describe('weights that vLLM serves', () => {
  it('are loaded before the pointer moves, answer new turns, and are unloaded after their last stream', async () => {
    const { dir, vllm, environment, begin, turn } = await start();
    expect(await turn('bare')).toBe('instar/nano@0 base-model');
    const [bare] = await begin(environment, 'bare');
    await propose(environment, 1);
    expect([foldersOf(dir), loaded(vllm)]).toEqual([[], []]);

    expect(await promote(environment)).toEqual(['1 canary']);
    expect([foldersOf(dir), loaded(vllm)]).toEqual([['v1'], ['v1']]);
    expect(await turn(sessionOf(1, true))).toBe('instar/nano@1 v1');
    expect(await turn(sessionOf(1, false))).toBe('instar/nano@0 base-model');
    expect(await promote(environment)).toEqual(['1 live']);
    expect(await turn(sessionOf(1, false))).toBe('instar/nano@1 v1');
    const { adapter } = await environment.api.training();
    expect(adapter).toBe(path.join(dir, 'train', 'nano', 'adapters', 'v1'));
    expect(await checkPeft(String(adapter))).toMatchObject({ rank: 4, baseModel: 'instar-nano' });

    const [first] = await begin(environment, 'first');
    for (const version of [2, 3]) {
      await propose(environment, version);
      for (const stage of ['canary', 'live'])
        expect(await promote(environment)).toEqual([`${version} ${stage}`]);
    }
    expect(await turn('first')).toBe('instar/nano@3 v3');
    // What served two moves ago is read from to the last word.
    expect([foldersOf(dir), loaded(vllm)]).toEqual([
      ['v1', 'v2', 'v3'],
      ['v1', 'v2', 'v3'],
    ]);
    vllm.end(2);
    expect([heard(await bare), heard(await first)]).toEqual(['instar/nano@0 base-model', 'instar/nano@1 v1']);
    await expect
      .poll(() => [foldersOf(dir), loaded(vllm)], { timeout: 15_000 })
      .toEqual([
        ['v2', 'v3'],
        ['v2', 'v3'],
      ]);
    expect(vllm.broken()).toBe(0);
    const reader = openSqliteReader(path.join(dir, 'instar.sqlite'));
    onTestFinished(() => reader.close());
    const kinds = reader.facts(0, 10_000).map(({ fact }) => fact.type);
    expect(kinds.filter((kind) => kind === 'policy-moved')).toHaveLength(9);
    expect(kinds).not.toContain('turn-sampled');
  });

  it('do not serve when they cannot be loaded: the pointer stays, the error is reported, and a rollback still works', async () => {
    const { dir, vllm, environment, turn } = await start();
    await propose(environment, 1);
    vllm.change({ isDown: true });
    await expect(promote(environment)).rejects.toThrow(/version 1 cannot serve, and nothing was changed/);
    expect((await environment.api.training()).versions).toMatchObject({
      live: 0,
      onTrial: { stage: 'candidate' },
    });
    vllm.change({ isDown: false, hasLora: false });
    await expect(promote(environment)).rejects.toThrow(/--enable-lora/);
    expect(await turn(sessionOf(1, true))).toBe('instar/nano@0 base-model');
    vllm.change({ hasLora: true });
    expect([await promote(environment), await promote(environment)]).toEqual([['1 canary'], ['1 live']]);
    await propose(environment, 2);
    expect([await promote(environment), await promote(environment)]).toEqual([['2 canary'], ['2 live']]);
    expect(await turn('any')).toBe('instar/nano@2 v2');

    vllm.change({ isDown: true });
    expect(await rollBack(environment)).toEqual(['2 rolled-back']);
    vllm.change({ isDown: false });
    expect(await turn('any')).toBe('instar/nano@1 v1');
    await expect.poll(() => foldersOf(dir), { timeout: 15_000 }).toEqual(['v1']);
  });

  it('are loaded again when a server has lost them; otherwise another version answers, and they are rolled back', async () => {
    const { dir, vllm, train, environment, turn } = await start();
    await propose(environment, 1);
    expect([await promote(environment), await promote(environment)]).toEqual([['1 canary'], ['1 live']]);
    vllm.adapters.clear();
    expect(await turn('lost')).toBe('instar/nano@1 v1');
    await environment.close();
    vllm.adapters.clear();
    const again = await openBed({ dir, train });
    expect(await again.api.training()).toMatchObject({ policy: 'instar/nano@1', versions: { live: 1 } });
    expect(await turn('restarted', again)).toBe('instar/nano@1 v1');

    vllm.adapters.clear();
    vllm.change({ hasLora: false });
    for (const session of ['one', 'two']) expect(await turn(session, again)).toMatch(/@1 base-model$/);
    await expect
      .poll(async () => (await again.api.training()).versions, { timeout: 15_000 })
      .toEqual({ live: 0 });
    expect(await turn('three', again)).toBe('instar/nano@0 base-model');
    expect(again.lines.filter(({ msg }) => msg.includes('another version answered'))).toHaveLength(2);
  });

  it("are requested with vLLM's key, and only for clients with Instar's key", async () => {
    const dir = newFolder();
    onTestFinished(() => removeFolder(dir));
    const vllm = await startVllm({ key: 'abc-secret' });
    const serve = { vllm: vllm.baseUrl, model: 'base-model', keyEnv: 'VLLM_KEY' };
    const environment = await openBed({ dir, train: { serve }, env: { VLLM_KEY: 'abc-secret' } });
    const body = JSON.stringify({
      model: 'instar/nano',
      stream: true,
      messages: [{ role: 'user', content: 'x' }],
    });
    expect((await ask(environment.port, { path: '/v1/chat/completions', body })).status).toBe(401);
    const answer = environment.chat('Who are you?');
    await expect.poll(() => vllm.streams.size, { timeout: 15_000 }).toBe(1);
    vllm.end(1);
    expect(heard(await answer)).toBe('instar/nano@0 base-model');
  });
});

describe('weights that the engine serves', () => {
  it('are exported as a folder; when that fails they serve all the same', async () => {
    const dir = newFolder();
    onTestFinished(() => removeFolder(dir));
    const environment = await openBed({ dir });
    // What a killed export left.
    mkdirSync(path.join(dir, 'train', 'nano', 'adapters', 'v9.partial-x'), { recursive: true });
    await propose(environment, 1);
    expect([await promote(environment), await promote(environment)]).toEqual([['1 canary'], ['1 live']]);
    await expect.poll(() => foldersOf(dir), { timeout: 15_000 }).toEqual(['v1']);
    const { adapter } = await environment.api.training();
    expect((await checkPeft(String(adapter))).tensors).toBeGreaterThan(0);

    mkdirSync(path.join(dir, 'train', 'nano', 'adapters', 'v2'), { recursive: true });
    writeFileSync(path.join(dir, 'train', 'nano', 'adapters', 'v2', 'adapter_config.json'), '{}');
    await propose(environment, 2);
    expect([await promote(environment), await promote(environment)]).toEqual([['2 canary'], ['2 live']]);
    await expect
      .poll(() => environment.lines.filter(({ msg }) => msg.includes('could not be exported')).length, {
        timeout: 15_000,
      })
      .toBeGreaterThan(0);
    const { headers, status } = await environment.chat('Who are you?');
    expect([status, headers['x-instar-policy']]).toEqual([200, 'instar/nano@2']);
  });
});
