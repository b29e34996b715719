import { describe, expect, it } from 'vitest';
import { readSafetensors } from '../../../../src/base/safetensors.ts';
import { type Datum, type Engine, LOSSES, type TrainBatch } from '../../../../train/nano/engine.ts';
import { projectionName } from '../../../../train/nano/model/decoder-weights.ts';
import { loraPieces } from '../../../../train/nano/model/lora.ts';
import { createRandomStream } from '../../../../train/nano/random-stream.ts';
import { createEngine } from '../../../support/one-thread-engine.ts';
import { createPlainModel, plainLoss } from './plain-model.ts';
import {
  ADAM,
  closeTo,
  LORA,
  moved,
  randomNumbers,
  randomTokens,
  SMALL,
  smallWeights,
} from './small-model.ts';

const weights = smallWeights();
const engine = createEngine({ weights, shape: SMALL, name: 'small' });
const trained = moved(await engine.save(await engine.createAdapter(LORA), false));

/** The accumulated gradient of an adapter, from its saved state. */
const gathered = async (from: Engine, adapter: string): Promise<Float32Array> => {
  const saved = readSafetensors(await from.save(adapter, true));
  return saved.tensors.get('optimizer.gathered')?.values ?? new Float32Array();
};

/** Two rollouts of one prompt and an unrelated sequence, so that shared rows are included. */
const rollouts = (): readonly Datum[] => {
  const plain = createPlainModel(weights, SMALL, trained);
  const prompt = randomTokens(6, 1);
  const sequences = [2, 3].map((seed) => Int32Array.from([...prompt, ...randomTokens(6, seed)]));
  return [...sequences, randomTokens(9, 4)].map((tokens, i) => {
    const targets = randomTokens(tokens.length, 20 + i);
    const drift = randomNumbers(tokens.length, i, -0.5, 0.5);
    return {
      tokens,
      targets,
      weights: randomNumbers(tokens.length, 30 + i, -0.2, 1).map((w) => Math.max(w, 0)),
      advantages: randomNumbers(tokens.length, 40 + i, -2, 2),
      logprobs: Float32Array.from(plain.logprobs(tokens, targets), (p, at) => p + (drift[at] ?? 0)),
    };
  });
};
const data = rollouts();

describe('the gradient', () => {
  it.each(LOSSES)('of %s equals finite differences, for every kind of parameter', async (loss) => {
    const batch: TrainBatch = { loss, data };
    const adapter = await engine.load(trained, false);
    await engine.forwardBackward(adapter, batch);
    const gradient = await gathered(engine, adapter);
    const plain = createPlainModel(weights, SMALL, trained);
    const held = data.map(({ tokens, targets }) => plain.logprobs(tokens, targets));
    const most = gradient.reduce((size, value) => Math.max(size, Math.abs(value)), 0);
    // Other entries for each loss.
    const random = createRandomStream(9, LOSSES.indexOf(loss));
    const checked = new Set<string>();
    for (const { layer, projection, a, b } of loraPieces(SMALL, LORA)) {
      for (const [factor, start] of [
        ['A', a],
        ['B', b],
      ] as const) {
        const values =
          plain.lora.get(`${projectionName(layer, projection)}.lora_${factor}.weight`) ?? new Float64Array();
        const at = Math.floor(random() * values.length);
        const value = values[at] ?? 0;
        const lossAt = (moved: number): number => {
          values[at] = moved;
          return plainLoss(plain, batch, held);
        };
        const slope = (lossAt(value + 1e-5) - lossAt(value - 1e-5)) / 2e-5;
        values[at] = value;
        expect(Math.abs((gradient[start + at] ?? Number.NaN) - slope)).toBeLessThan(1e-4 * most + 1e-4);
        checked.add(`${layer}.${projection}.${factor}`);
      }
    }
    expect(checked.size).toBe(SMALL.layers * 7 * 2);
    expect(most).toBeGreaterThan(1);
  });

  it('does not depend on shared prefixes: a group gives the sum of its members', async () => {
    const [together, apart] = [await engine.load(trained, false), await engine.load(trained, false)];
    await engine.forwardBackward(together, { loss: 'importance_sampling', data });
    for (const one of data) await engine.forwardBackward(apart, { loss: 'importance_sampling', data: [one] });
    const [whole, sum] = [await gathered(engine, together), await gathered(engine, apart)];
    const most = whole.reduce((size, value) => Math.max(size, Math.abs(value)), 0);
    expect(closeTo(whole, sum)).toBeLessThan(1e-5 * Math.max(1, most));
  });

  it('is the same for one large batch as for its parts (microbatches add up)', async () => {
    const many = Array.from(
      { length: 90 },
      (_, i): Datum => ({ tokens: randomTokens(50, i), targets: randomTokens(50, i + 100) }),
    );
    const [whole, parts] = [await engine.load(trained, false), await engine.load(trained, false)];
    const result = await engine.forwardBackward(whole, { loss: 'cross_entropy', data: many });
    for (let i = 0; i < many.length; i += 30) {
      await engine.forwardBackward(parts, { loss: 'cross_entropy', data: many.slice(i, i + 30) });
    }
    expect(result.metrics['tokens:sum']).toBe(90 * 50);
    const [a, b] = [await gathered(engine, whole), await gathered(engine, parts)];
    const most = a.reduce((size, value) => Math.max(size, Math.abs(value)), 0);
    expect(closeTo(a, b)).toBeLessThan(1e-5 * most);
  });

  it('exists only for the matrices of the adapter', async () => {
    for (const [attention, mlp, pieces] of [
      [true, false, 8],
      [false, true, 6],
    ] as const) {
      const only = await engine.createAdapter({ ...LORA, attention, mlp });
      await engine.forwardBackward(only, { loss: 'cross_entropy', data });
      await engine.optimStep(only, ADAM);
      const { tensors } = readSafetensors(await engine.save(only, false));
      expect(tensors.size).toBe(2 * pieces);
      expect([...tensors.keys()].every((name) => name.includes(attention ? 'self_attn' : 'mlp'))).toBe(true);
    }
  });

  it('works for any rank, and lowers the loss', async () => {
    for (const rank of [1, 8, 11]) {
      const adapter = await engine.createAdapter({ ...LORA, rank, alpha: rank });
      const losses: number[] = [];
      for (let step = 0; step < 8; step++) {
        const { metrics } = await engine.forwardBackward(adapter, { loss: 'cross_entropy', data });
        losses.push(metrics['loss:sum'] ?? Number.NaN);
        await engine.optimStep(adapter, { ...ADAM, learningRate: 0.03 });
      }
      expect(losses.at(-1)).toBeLessThan(0.7 * (losses[0] ?? 0));
    }
  });
});
