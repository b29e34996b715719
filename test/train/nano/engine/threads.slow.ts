import { afterAll, describe, expect, it } from 'vitest';
import { workerModule } from '../../../../src/base/worker-thread.ts';
import type { Engine, TrainBatch } from '../../../../train/nano/engine.ts';
import { openThreadedEngine } from '../../../../train/nano/threaded-engine.ts';
import { createEngine } from '../../../support/one-thread-engine.ts';
import { ADAM, LORA, randomNumbers, randomTokens, SMALL, smallWeights } from './small-model.ts';

const options = { weights: smallWeights(), shape: SMALL, name: 'small' };
const engineThread = workerModule(
  './engine-thread.ts',
  new URL('../../../../train/nano/threaded-engine.ts', import.meta.url).href,
);
/** The engine's thread, with a call that ends it. */
const mortal = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from 'node:worker_threads';
    const on = parentPort.on.bind(parentPort);
    parentPort.on = (event, listen) => on(event, (question) => {
      if (question.operands?.[1]?.learningRate === 666 || question.request?.seed === 666) process.exit(3);
      listen(question);
    });
    await import(${JSON.stringify(engineThread.href)});
  `)}`,
);
const opened: Engine[] = [];
const open = (): Engine => {
  const engine = openThreadedEngine(options, mortal);
  opened.push(engine);
  return engine;
};
afterAll(() => Promise.all(opened.map((engine) => engine.close())));

const always = new AbortController().signal;
const request = {
  prompt: randomTokens(9, 1),
  count: 4,
  maxTokens: 12,
  temperature: 1,
  topK: -1,
  topP: 1,
  seed: 1,
  stop: [],
};
const deadly = { ...ADAM, learningRate: 666 };
const batchOf = (seed: number): TrainBatch => ({
  loss: 'importance_sampling',
  data: [0, 1, 2].map((i) => ({
    tokens: randomTokens(20, seed + i),
    targets: randomTokens(20, seed + i + 9),
    advantages: randomNumbers(20, seed, -1, 1),
    logprobs: randomNumbers(20, seed + 1, -4, -2),
  })),
});

describe('an engine in two threads', () => {
  it('gives the same bits for the same calls as one in a single thread', async () => {
    const run = async (engine: Engine) => {
      const adapter = await engine.createAdapter(LORA);
      const results: unknown[] = [];
      for (let step = 0; step < 3; step++) {
        results.push(
          await engine.forwardBackward(adapter, batchOf(step)),
          await engine.optimStep(adapter, ADAM),
        );
        const copy = await engine.freeze(adapter);
        results.push(await engine.sample(copy, { ...request, seed: step }, always));
        results.push(await engine.sample(adapter, { ...request, seed: step + 1 }, always));
        await engine.dispose(copy);
      }
      return [
        ...results,
        await engine.forward(undefined, batchOf(7)),
        [...(await engine.save(adapter, true))].join(),
      ];
    };
    expect(await run(open())).toEqual(await run(createEngine(options)));
  });

  it('runs calls in order without waiting for each reply', async () => {
    const [slow, quick] = [createEngine(options), open()];
    const adapter = await slow.createAdapter(LORA);
    await slow.forwardBackward(adapter, batchOf(1));
    await slow.optimStep(adapter, ADAM);
    const wanted = await slow.save(adapter, true);
    const same = await quick.createAdapter(LORA);
    const [, , got] = await Promise.all([
      quick.forwardBackward(same, batchOf(1)),
      quick.optimStep(same, ADAM),
      quick.save(same, true),
    ]);
    expect(Buffer.compare(got, wanted)).toBe(0);
  });

  it('answers a sample while a training call runs (and not after it)', async () => {
    const engine = open();
    const adapter = await engine.createAdapter(LORA);
    const copy = await engine.freeze(adapter);
    await engine.sample(copy, request, always);
    const order: string[] = [];
    const many = Array.from({ length: 400 }, (_, i) => ({
      tokens: randomTokens(60, i),
      targets: randomTokens(60, i + 1),
    }));
    const training = engine
      .forwardBackward(adapter, { loss: 'cross_entropy', data: many })
      .then(() => order.push('trained'));
    await engine.sample(copy, { ...request, maxTokens: 2 }, always).then(() => order.push('sampled'));
    await training;
    expect(order).toEqual(['sampled', 'trained']);
  });

  it('rejects an invalid call with an EngineError, and goes on', async () => {
    const engine = open();
    const adapter = await engine.createAdapter(LORA);
    const refused = { name: 'EngineError' };
    await expect(engine.createAdapter({ ...LORA, rank: 0 })).rejects.toMatchObject(refused);
    await expect(engine.forwardBackward(adapter, { loss: 'ppo', data: [] })).rejects.toMatchObject(refused);
    await expect(engine.sample(undefined, { ...request, count: 0 }, always)).rejects.toMatchObject(refused);
    await expect(engine.load(new Uint8Array(3), true)).rejects.toMatchObject(refused);
    expect((await engine.forwardBackward(adapter, batchOf(1))).logprobs).toHaveLength(3);
  });

  it('stops a sample that is aborted, running or queued, with the signal’s reason', async () => {
    const engine = open();
    const leaving = new AbortController();
    const long = { ...request, prompt: randomTokens(1, 1), maxTokens: 60, count: 1024 };
    const running = engine.sample(undefined, long, leaving.signal);
    const inLine = engine.sample(undefined, long, leaving.signal);
    const after = engine.sample(undefined, request, always);
    setTimeout(() => leaving.abort(new Error('gone')), 20);
    await expect(running).rejects.toThrow('gone');
    await expect(inLine).rejects.toThrow('gone');
    expect((await after).sequences).toHaveLength(4);
  });
});

describe('a training thread that ends', () => {
  it('rejects its calls, and another continues from the last saved state', async () => {
    const engine = open();
    const adapter = await engine.createAdapter(LORA);
    await engine.forwardBackward(adapter, batchOf(1));
    const saved = await engine.save(adapter, true);
    await engine.optimStep(adapter, ADAM);
    await expect(engine.optimStep(adapter, deadly)).rejects.toThrow(
      `the engine's train thread ended: exit code 3; adapter "${adapter}" is back at its last saved state`,
    );
    expect(Buffer.compare(await engine.save(adapter, true), saved)).toBe(0);
    await engine.forwardBackward(adapter, batchOf(2));
  });

  it('loses an adapter that was never saved: every later call throws until it is disposed of', async () => {
    const engine = open();
    const [adapter, other] = [await engine.createAdapter(LORA), await engine.createAdapter(LORA)];
    const lost = (name: string): string => `adapter "${name}" had no saved state and is lost`;
    await expect(engine.optimStep(adapter, deadly)).rejects.toThrow(lost(adapter));
    for (let again = 0; again < 2; again++) {
      await expect(engine.forwardBackward(other, batchOf(1))).rejects.toThrow(lost(other));
    }
    await engine.dispose(other);
    await expect(engine.forward(other, batchOf(1))).rejects.toThrow(`there is no adapter "${other}"`);
    expect(await engine.createAdapter(LORA)).toBe('adapter-3');
  });

  it('throws once in the next call of an adapter that was reset while no call was pending', async () => {
    const engine = open();
    const [adapter, other] = [await engine.createAdapter(LORA), await engine.createAdapter(LORA)];
    const quiet = await engine.createAdapter(LORA);
    const [saved] = [await engine.save(other, true), await engine.save(quiet, true)];
    await engine.forwardBackward(other, batchOf(1));
    await expect(engine.optimStep(adapter, deadly)).rejects.toThrow('ended');
    await expect(engine.optimStep(other, ADAM)).rejects.toThrow(
      `adapter "${other}" is back at its last saved state`,
    );
    expect(Buffer.compare(await engine.save(other, true), saved)).toBe(0);
    await expect(engine.optimStep(quiet, ADAM)).resolves.toMatchObject({ 'step:max': 1 });
  });
});

describe('a sampling thread that ends', () => {
  it('rejects its calls, and another samples from the same frozen copies', async () => {
    const engine = open();
    const adapter = await engine.createAdapter(LORA);
    await engine.forwardBackward(adapter, batchOf(1));
    await engine.optimStep(adapter, ADAM);
    const copy = await engine.freeze(adapter);
    const before = await engine.sample(copy, request, always);
    await expect(engine.sample(copy, { ...request, seed: 666 }, always)).rejects.toThrow(
      "the engine's sample thread ended: exit code 3",
    );
    expect(await engine.sample(copy, request, always)).toEqual(before);
  });
});
