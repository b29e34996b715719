import { describe, expect, it } from 'vitest';
import type { Datum, TrainBatch } from '../../../../train/nano/engine.ts';
import { createEngine } from '../../../support/one-thread-engine.ts';
import { ADAM, LORA, randomTokens, SMALL, smallWeights } from './small-model.ts';

const engine = createEngine({ weights: smallWeights(), shape: SMALL, name: 'small' });
const adapter = await engine.createAdapter(LORA);
const always = new AbortController().signal;

const good: Datum = {
  tokens: randomTokens(6, 1),
  targets: randomTokens(6, 2),
  advantages: new Float32Array(6).fill(1),
  logprobs: new Float32Array(6).fill(-3),
};
const ppo = (...data: readonly Datum[]): TrainBatch => ({ loss: 'ppo', data });
const holed = (value: number): Float32Array => new Float32Array(6).fill(value, 3, 4);
const { advantages: _, ...withoutAdvantages } = good;

const BATCHES: readonly (readonly [string, TrainBatch, string])[] = [
  ['an unknown loss', { loss: 'dro' as 'ppo', data: [good] }, 'unknown loss "dro"'],
  ['no data', ppo(), 'the batch is empty'],
  ['no tokens', ppo({ ...good, tokens: new Int32Array() }), 'data[0].tokens is empty'],
  [
    'fewer targets than tokens',
    ppo({ ...good, targets: randomTokens(5, 1) }),
    'data[0].targets has length 5',
  ],
  [
    'more weights than tokens',
    ppo({ ...good, weights: new Float32Array(7) }),
    'data[0].weights has length 7',
  ],
  ['no advantages', ppo(withoutAdvantages), 'data[0].advantages is missing'],
  [
    'an advantage that is NaN',
    ppo(good, { ...good, advantages: holed(Number.NaN) }),
    'data[1].advantages[3] is NaN',
  ],
  [
    'a log-probability of -Infinity',
    ppo({ ...good, logprobs: holed(-Infinity) }),
    'data[0].logprobs[3] is -Infinity',
  ],
  [
    'a token beyond the vocabulary',
    ppo({ ...good, tokens: Int32Array.of(0, 1, 40, 0, 0, 0) }),
    'data[0].tokens[2] is 40',
  ],
  [
    'a target below zero',
    ppo({ ...good, targets: Int32Array.of(0, -1, 0, 0, 0, 0) }),
    'data[0].targets[1] is -1',
  ],
  [
    'a sequence longer than the context',
    { loss: 'cross_entropy', data: [{ tokens: new Int32Array(65), targets: new Int32Array(65) }] },
    'has 65 tokens',
  ],
  ['clips in the wrong order', { ...ppo(good), clip: { low: 2, high: 1 } }, 'cannot be clipped to [2, 1]'],
  [
    'too many tokens',
    {
      loss: 'cross_entropy',
      data: Array.from({ length: 2049 }, () => ({ tokens: new Int32Array(64), targets: new Int32Array(64) })),
    },
    'send at most 131072',
  ],
  [
    'a ratio beyond all numbers',
    { loss: 'importance_sampling', data: [good, { ...good, logprobs: holed(-2000) }] },
    'the loss of the batch is -Infinity',
  ],
];

describe('a batch', () => {
  it.each(BATCHES)('with %s is rejected and changes nothing', async (_name, batch, why) => {
    await engine.forwardBackward(adapter, ppo(good));
    const before = await engine.save(adapter, true);
    await expect(engine.forwardBackward(adapter, batch)).rejects.toMatchObject({
      name: 'EngineError',
      message: expect.stringContaining(why),
    });
    await expect(engine.forward(adapter, batch)).rejects.toThrow(why);
    expect(Buffer.compare(await engine.save(adapter, true), before)).toBe(0);
    await engine.optimStep(adapter, ADAM);
  });

  it('whose gradient overflows is rejected and changes nothing', async () => {
    const before = await engine.save(adapter, true);
    const huge = { ...good, weights: new Float32Array(6).fill(3e38) };
    await expect(engine.forwardBackward(adapter, { loss: 'cross_entropy', data: [huge] })).rejects.toThrow(
      'not finite',
    );
    expect(Buffer.compare(await engine.save(adapter, true), before)).toBe(0);
  });
});

describe('other calls', () => {
  const request = {
    prompt: randomTokens(4, 1),
    count: 1,
    maxTokens: 4,
    temperature: 1,
    topK: -1,
    topP: 1,
    seed: 1,
    stop: [],
  };
  const REQUESTS = [
    ['an empty prompt', { prompt: new Int32Array() }, 'the prompt is empty'],
    ['a prompt that fills the context', { prompt: new Int32Array(64) }, 'leaves no room'],
    ['an unknown token', { prompt: Int32Array.of(99) }, 'prompt[0] is 99'],
    ['no sequences', { count: 0 }, 'count is 0'],
    ['no tokens', { maxTokens: 0 }, 'maxTokens is 0'],
    ['a negative temperature', { temperature: -1 }, 'temperature is -1'],
    ['a temperature that is NaN', { temperature: Number.NaN }, 'temperature is NaN'],
    ['topK 0', { topK: 0 }, 'topK is 0'],
    ['topP 0', { topP: 0 }, 'topP is 0'],
    ['half a seed', { seed: 0.5 }, 'seed is 0.5'],
    ['an unknown stop token', { stop: [40] }, 'stop is [40]'],
  ] as const;
  it.each(REQUESTS)('sampling with %s is rejected', async (_name, change, why) => {
    await expect(engine.sample(undefined, { ...request, ...change }, always)).rejects.toMatchObject({
      name: 'EngineError',
      message: expect.stringContaining(why),
    });
    expect((await engine.sample(undefined, request, always)).sequences).toHaveLength(1);
  });

  it.each([
    [{ rank: 0 }, 'rank is 0'],
    [{ rank: 65 }, 'rank is 65'],
    [{ rank: 2.5 }, 'rank is 2.5'],
    [{ alpha: 0 }, 'alpha is 0'],
    [{ seed: Number.NaN }, 'seed is NaN'],
    [{ attention: false, mlp: false }, 'must train attention, mlp or both'],
  ])('an adapter with %j is rejected', async (change, why) => {
    await expect(engine.createAdapter({ ...LORA, ...change })).rejects.toThrow(why);
  });

  it.each([
    [{ learningRate: Number.NaN }, 'learningRate is NaN'],
    [{ beta1: 1 }, 'beta1 is 1'],
    [{ eps: -1 }, 'eps is -1'],
    [{ gradClipNorm: Infinity }, 'gradClipNorm is Infinity'],
  ])('a step with %j is rejected and changes nothing', async (change, why) => {
    const before = await engine.save(adapter, true);
    await expect(engine.optimStep(adapter, { ...ADAM, ...change })).rejects.toThrow(why);
    expect(Buffer.compare(await engine.save(adapter, true), before)).toBe(0);
  });

  it('an unknown adapter is rejected by every call', async () => {
    const calls = [
      engine.forward('adapter-99', ppo(good)),
      engine.forwardBackward('adapter-99', ppo(good)),
      engine.optimStep('adapter-99', ADAM),
      engine.freeze('adapter-99'),
      engine.save('adapter-99', true),
      engine.dispose('adapter-99'),
      engine.sample('adapter-99', request, always),
    ];
    for (const call of calls) await expect(call).rejects.toMatchObject({ name: 'EngineError' });
  });

  it('adapters above the limit are rejected until one is disposed of', async () => {
    const full = createEngine({ weights: smallWeights(), shape: SMALL, name: 'full' });
    const names = [];
    for (let i = 0; i < 64; i++) names.push(await full.createAdapter({ ...LORA, rank: 1 }));
    await expect(full.createAdapter(LORA)).rejects.toThrow('dispose of one first');
    await full.dispose(names[0] ?? '');
    await expect(full.createAdapter(LORA)).resolves.toBe('adapter-66');
  });

  it('an aborted sample ends before its next token, and a queued one leaves the queue', async () => {
    const leaving = new AbortController();
    const long = { ...request, prompt: randomTokens(2, 1), maxTokens: 60 };
    const running = engine.sample(undefined, long, leaving.signal);
    const inLine = engine.sample(undefined, long, leaving.signal);
    const after = engine.sample(undefined, request, always);
    setImmediate(() => leaving.abort(new Error('gone')));
    await expect(running).rejects.toThrow('gone');
    await expect(inLine).rejects.toThrow('gone');
    expect((await after).sequences[0]?.tokens).toHaveLength(4);
  });

  it('a closed engine rejects calls and ends running ones', async () => {
    const closing = createEngine({ weights: smallWeights(), shape: SMALL, name: 'closing' });
    const running = closing.sample(undefined, { ...request, maxTokens: 60 }, always);
    await closing.close();
    await expect(running).rejects.toThrow('the engine is closed');
    await expect(closing.createAdapter(LORA)).rejects.toThrow('the engine is closed');
  });
});
