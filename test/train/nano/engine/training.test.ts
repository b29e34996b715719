import { describe, expect, it } from 'vitest';
import { readSafetensors, writeSafetensors } from '../../../../src/base/safetensors.ts';
import type { AdamParams, Engine, TrainBatch } from '../../../../train/nano/engine.ts';
import { createEngine } from '../../../support/one-thread-engine.ts';
import { ADAM, closeTo, LORA, randomNumbers, randomTokens, SMALL, smallWeights } from './small-model.ts';

const weights = smallWeights();
const open = (): Engine => createEngine({ weights, shape: SMALL, name: 'small' });

const batchOf = (seed: number): TrainBatch => ({
  loss: 'cross_entropy',
  data: [0, 1, 2].map((i) => ({
    tokens: randomTokens(12, seed + i),
    targets: randomTokens(12, seed + i + 50),
  })),
});

/** All numbers of a saved adapter, in the order they lie. */
const numbers = async (engine: Engine, adapter: string): Promise<readonly number[]> =>
  [...readSafetensors(await engine.save(adapter, false)).tensors.values()].flatMap(({ values }) => [
    ...values,
  ]);
const gathered = async (engine: Engine, adapter: string): Promise<readonly number[]> => [
  ...(readSafetensors(await engine.save(adapter, true)).tensors.get('optimizer.gathered')?.values ?? []),
];
const train = async (engine: Engine, adapter: string, from: number, to: number): Promise<void> => {
  for (let step = from; step < to; step++) {
    await engine.forwardBackward(adapter, batchOf(step));
    await engine.optimStep(adapter, ADAM);
  }
};

describe('a step of Adam', () => {
  const settings: readonly AdamParams[] = [
    ADAM,
    { ...ADAM, weightDecay: 0.1 },
    { ...ADAM, gradClipNorm: 0.5 },
    { ...ADAM, eps: 0, beta1: 0.5, beta2: 0.999, gradClipNorm: 1e9 },
  ];
  it.each(settings)('follows the published rule with %j', async (adam) => {
    const engine = open();
    const adapter = await engine.createAdapter(LORA);
    const values = [...(await numbers(engine, adapter))];
    const [m, v] = [values.map(() => 0), values.map(() => 0)];
    for (let t = 1; t <= 4; t++) {
      await engine.forwardBackward(adapter, batchOf(t));
      const g = await gathered(engine, adapter);
      const norm = Math.hypot(...g);
      const metrics = await engine.optimStep(adapter, adam);
      const share = adam.gradClipNorm > 0 ? Math.min(1, adam.gradClipNorm / norm) : 1;
      const before = [...values];
      values.forEach((value, i) => {
        const gradient = (g[i] ?? 0) * share;
        m[i] = adam.beta1 * (m[i] ?? 0) + (1 - adam.beta1) * gradient;
        v[i] = adam.beta2 * (v[i] ?? 0) + (1 - adam.beta2) * gradient ** 2;
        const root = Math.sqrt((v[i] ?? 0) / (1 - adam.beta2 ** t)) + adam.eps;
        const along = root === 0 ? 0 : (m[i] ?? 0) / (1 - adam.beta1 ** t) / root;
        values[i] = value - adam.learningRate * (along + adam.weightDecay * value);
      });
      expect(closeTo(await numbers(engine, adapter), values)).toBeLessThan(1e-5);
      expect(metrics['grad_norm:mean']).toBeCloseTo(norm, 3);
      const moved = Math.hypot(...values.map((value, i) => value - (before[i] ?? 0)));
      expect(metrics['update_norm:mean']).toBeCloseTo(moved, 4);
      expect(await gathered(engine, adapter)).toEqual(g.map(() => 0));
    }
  });
});

describe('training', () => {
  it('is bit-identical for the same seed and calls, and differs for another seed', async () => {
    const results = [];
    for (const seed of [1, 1, 2]) {
      const engine = open();
      const adapter = await engine.createAdapter({ ...LORA, seed });
      await train(engine, adapter, 0, 3);
      results.push(await numbers(engine, adapter));
    }
    expect(results[1]).toEqual(results[0]);
    expect(results[2]).not.toEqual(results[0]);
  });

  it('continues bit-identically from a saved state, also between a gradient and its step', async () => {
    const [engine, other] = [open(), open()];
    const adapter = await engine.createAdapter(LORA);
    await train(engine, adapter, 0, 3);
    await engine.forwardBackward(adapter, batchOf(3));
    const copy = await other.load(await engine.save(adapter, true), true);
    for (const [on, name] of [
      [engine, adapter],
      [other, copy],
    ] as const) {
      await on.forwardBackward(name, batchOf(4));
      await on.optimStep(name, ADAM);
      await train(on, name, 5, 7);
    }
    expect(Buffer.compare(await other.save(copy, true), await engine.save(adapter, true))).toBe(0);
  });

  it('resets the optimizer when a state is loaded without it', async () => {
    const engine = open();
    const adapter = await engine.createAdapter(LORA);
    await train(engine, adapter, 0, 2);
    const copy = await engine.load(await engine.save(adapter, true), false);
    expect(await numbers(engine, copy)).toEqual(await numbers(engine, adapter));
    await engine.forwardBackward(copy, batchOf(9));
    expect((await engine.optimStep(copy, ADAM))['step:max']).toBe(1);
  });

  it('gives each of several interleaved adapters the result it has alone', async () => {
    const alone = open();
    const wanted = [];
    for (const rank of [2, 5]) {
      const adapter = await alone.createAdapter({ ...LORA, rank });
      await train(alone, adapter, 0, 3);
      wanted.push(await numbers(alone, adapter));
    }
    const engine = open();
    const [a, b] = [
      await engine.createAdapter({ ...LORA, rank: 2 }),
      await engine.createAdapter({ ...LORA, rank: 5 }),
    ];
    for (let step = 0; step < 3; step++) {
      await engine.forwardBackward(a, batchOf(step));
      await engine.forwardBackward(b, batchOf(step));
      await engine.forward(undefined, batchOf(step));
      await engine.optimStep(b, ADAM);
      await engine.optimStep(a, ADAM);
    }
    expect(await numbers(engine, a)).toEqual(wanted[0]);
    expect(await numbers(engine, b)).toEqual(wanted[1]);
  });

  it('does not change a frozen copy while its adapter is trained further', async () => {
    const engine = open();
    const adapter = await engine.createAdapter(LORA);
    await train(engine, adapter, 0, 2);
    const copy = await engine.freeze(adapter);
    const request = {
      prompt: randomTokens(5, 1),
      count: 2,
      maxTokens: 9,
      temperature: 1,
      topK: -1,
      topP: 1,
      seed: 1,
      stop: [],
    };
    const signal = new AbortController().signal;
    const before = await engine.sample(copy, request, signal);
    expect(await engine.sample(adapter, request, signal)).toEqual(before);
    await train(engine, adapter, 2, 4);
    expect(await engine.sample(copy, request, signal)).toEqual(before);
    expect(await engine.sample(adapter, request, signal)).not.toEqual(before);
    await engine.dispose(copy);
    await expect(engine.sample(copy, request, signal)).rejects.toThrow(`there are no weights "${copy}"`);
  });

  it('saves under the names and shapes that PEFT uses', async () => {
    const engine = open();
    const { tensors } = readSafetensors(await engine.save(await engine.createAdapter(LORA), false));
    expect(tensors.get('base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight')?.shape).toEqual([
      3, 32,
    ]);
    expect(tensors.get('base_model.model.model.layers.1.mlp.down_proj.lora_B.weight')?.shape).toEqual([
      32, 3,
    ]);
    const a = tensors.get('base_model.model.model.layers.1.mlp.down_proj.lora_A.weight')?.values ?? [];
    const bound = 1 / Math.sqrt(SMALL.inner);
    expect(Math.max(...a.map(Math.abs))).toBeLessThanOrEqual(bound);
    expect(Math.max(...a.map(Math.abs))).toBeGreaterThan(0.9 * bound);
  });
});

describe('loading', () => {
  it('rejects what is not an adapter of this model, with the reason', async () => {
    const engine = open();
    const adapter = await engine.createAdapter(LORA);
    const saved = await engine.save(adapter, false);
    const { tensors, metadata } = readSafetensors(saved);
    const rewrite = (change: Record<string, string>): Uint8Array =>
      writeSafetensors(tensors, { ...metadata, ...change });
    const other = createEngine({ weights: smallWeights(SMALL, 2), shape: SMALL, name: 'other' });
    const fewer = new Map([...tensors].slice(1));
    const broken = new Map(tensors).set('base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight', {
      shape: [3, 32],
      values: randomNumbers(96, 1, 0, 1).fill(Number.NaN, 5, 6),
    });
    const cases: readonly (readonly [Promise<string>, string])[] = [
      [engine.load(new Uint8Array(4), false), 'ends within its first 8 bytes'],
      [engine.load(saved.subarray(0, saved.length - 1), false), 'does not lie at bytes'],
      [engine.load(weights, false), 'not a saved adapter'],
      [other.load(saved, false), 'trained on other weights'],
      [engine.load(saved, true), 'saved without its optimizer'],
      [engine.load(rewrite({ options: '{"rank":0,"alpha":1,"seed":1,"mlp":true}' }), false), 'rank is 0'],
      [engine.load(rewrite({ options: 'x' }), false), 'not JSON'],
      [engine.load(writeSafetensors(fewer, metadata), false), 'has no numbers in'],
      [engine.load(writeSafetensors(broken, metadata), false), 'not finite'],
    ];
    for (const [attempt, why] of cases) {
      await expect(attempt).rejects.toMatchObject({
        name: 'EngineError',
        message: expect.stringContaining(why),
      });
    }
  });
});
