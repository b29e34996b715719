import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Datum, TrainBatch } from '../../../../train/nano/engine.ts';
import { createEngine } from '../../../support/one-thread-engine.ts';
import { createPlainModel, plainLoss } from './plain-model.ts';
import { closeTo, LORA, moved, randomNumbers, randomTokens, SMALL, smallWeights } from './small-model.ts';

const weights = smallWeights();
const engine = createEngine({ weights, shape: SMALL, name: 'small' });
const fresh = await engine.createAdapter(LORA);
const trained = moved(await engine.save(fresh, false));
const adapter = await engine.load(trained, false);
const always = new AbortController().signal;

const datum = (tokens: Int32Array, seed: number): Datum => ({
  tokens,
  targets: randomTokens(tokens.length, seed),
});
const batch = (...data: readonly Datum[]): TrainBatch => ({ loss: 'cross_entropy', data });
const join = (...parts: readonly Int32Array[]): Int32Array =>
  Int32Array.from(parts.flatMap((part) => [...part]));

describe('forward', () => {
  it('gives the log-probabilities of the model’s definition, for the base model and with an adapter', async () => {
    const plain = createPlainModel(weights, SMALL);
    const changed = createPlainModel(weights, SMALL, trained);
    for (const length of [1, 2, 7, 8, 9, 33, 64]) {
      const one = datum(randomTokens(length, length), length + 100);
      const [bare] = (await engine.forward(undefined, batch(one))).logprobs;
      const [adapted] = (await engine.forward(adapter, batch(one))).logprobs;
      expect(closeTo(bare ?? [], plain.logprobs(one.tokens, one.targets))).toBeLessThan(2e-5);
      expect(closeTo(adapted ?? [], changed.logprobs(one.tokens, one.targets))).toBeLessThan(2e-5);
      expect(closeTo(adapted ?? [], bare ?? [])).toBeGreaterThan(1e-2);
    }
  });

  it('is bit-identical to the base model with an adapter whose B is zero', async () => {
    const data = [datum(randomTokens(20, 1), 2), datum(randomTokens(31, 3), 4)];
    const bare = await engine.forward(undefined, batch(...data));
    expect(await engine.forward(fresh, batch(...data))).toEqual(bare);
  });

  it('gives each of several sequences the bits it has alone, whatever prefixes they share', async () => {
    const tokens = fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 1, maxLength: 24 });
    let shared = 0;
    await fc.assert(
      fc.asyncProperty(tokens, fc.array(tokens, { minLength: 2, maxLength: 6 }), async (prefix, tails) => {
        const data = tails.map((tail, i) => datum(Int32Array.from([...prefix, ...tail]), i));
        shared += prefix.length;
        const together = await engine.forward(adapter, batch(...data));
        for (const [i, one] of data.entries()) {
          const alone = await engine.forward(adapter, batch(one));
          expect(together.logprobs[i]).toEqual(alone.logprobs[0]);
        }
      }),
      { numRuns: 40 },
    );
    expect(shared).toBeGreaterThan(100);
  });

  it('has losses equal to their formulas', async () => {
    const plain = createPlainModel(weights, SMALL, trained);
    const prompt = randomTokens(9, 1);
    const rollouts = [5, 6].map((seed) => {
      const tokens = join(prompt, randomTokens(8, seed));
      const targets = randomTokens(tokens.length, seed + 10);
      const now = plain.logprobs(tokens, targets);
      const drift = randomNumbers(tokens.length, seed, -0.6, 0.6);
      return {
        tokens,
        targets,
        weights: randomNumbers(tokens.length, seed, 0, 1).map((w) => (w < 0.3 ? 0 : w)),
        advantages: randomNumbers(tokens.length, seed + 1, -2, 2),
        logprobs: Float32Array.from(now, (p, i) => p + (drift[i] ?? 0)),
      };
    });
    for (const loss of ['cross_entropy', 'importance_sampling', 'ppo', 'cispo'] as const) {
      for (const clip of [undefined, { low: 0.9, high: 1.05 }]) {
        const asked: TrainBatch = { loss, data: rollouts, ...(clip && { clip }) };
        const { metrics } = await engine.forward(adapter, asked);
        expect(Math.abs((metrics['loss:sum'] ?? Number.NaN) - plainLoss(plain, asked))).toBeLessThan(1e-3);
        const kept = rollouts.flatMap(({ weights: w }) => [...w]).filter((w) => w !== 0).length;
        expect(metrics['tokens:sum']).toBe(kept);
        if (loss === 'ppo' || loss === 'cispo') expect(metrics['clipped:sum']).toBeGreaterThan(0);
      }
    }
  });
});

describe('sampling', () => {
  const request = {
    prompt: randomTokens(13, 1),
    count: 3,
    maxTokens: 20,
    temperature: 1,
    topK: -1,
    topP: 1,
    seed: 5,
    stop: [],
  };

  it('gives log-probabilities bit-identical to forward, for the base model, an adapter and a frozen copy', async () => {
    let compared = 0;
    const frozen = await engine.freeze(adapter);
    for (const [name, through] of [
      [undefined, undefined],
      [fresh, fresh],
      [adapter, adapter],
      [frozen, adapter],
    ] as const) {
      for (const length of [1, 7, 8, 13, 40]) {
        const prompt = randomTokens(length, length);
        const { sequences } = await engine.sample(name, { ...request, prompt, temperature: 0.7 }, always);
        for (const { tokens, logprobs } of sequences) {
          const full = join(prompt, tokens);
          const data = { tokens: full.slice(0, -1), targets: full.slice(1) };
          const [scored] = (await engine.forward(through, batch(data))).logprobs;
          expect(logprobs).toEqual(scored?.slice(length - 1));
          compared += tokens.length;
        }
      }
    }
    expect(compared).toBe(4 * 5 * 3 * 20);
  });

  it('makes every ratio exactly 1 when the weights are the ones that were sampled from', async () => {
    const { prompt } = request;
    const { sequences } = await engine.sample(adapter, request, always);
    const data = sequences.map(({ tokens, logprobs }) => {
      const full = join(prompt, tokens);
      const ofAnswer = (values: Float32Array): Float32Array =>
        Float32Array.from([...new Float32Array(prompt.length - 1), ...values]);
      return {
        tokens: full.slice(0, -1),
        targets: full.slice(1),
        advantages: ofAnswer(new Float32Array(tokens.length).fill(1)),
        logprobs: ofAnswer(logprobs),
      };
    });
    const { metrics } = await engine.forward(adapter, { loss: 'importance_sampling', data });
    expect(metrics).toMatchObject({ 'loss:sum': -60, 'tokens:sum': 60, 'ratio:max': 1, 'kl:mean': 0 });
  });

  it('chooses greedily with a cache what a full forward pass chooses, every time', async () => {
    const { sequences } = await engine.sample(adapter, { ...request, temperature: 0, count: 2 }, always);
    expect(sequences[0]).toEqual(sequences[1]);
    const full = join(request.prompt, sequences[0]?.tokens ?? new Int32Array());
    for (let at = request.prompt.length; at < full.length; at++) {
      const every = Int32Array.from({ length: SMALL.vocabulary }, (_, token) => token);
      const data = [...every].map((target) => ({
        tokens: full.slice(0, at),
        targets: Int32Array.from({ length: at }, () => target),
      }));
      const scores = (await engine.forward(adapter, batch(...data))).logprobs.map((row) => row.at(-1) ?? 0);
      expect(scores.indexOf(Math.max(...scores))).toBe(full[at]);
    }
  });

  it('gives a sequence the same tokens for any count of sequences, and others for another seed', async () => {
    const many = await engine.sample(adapter, { ...request, count: 37 }, always);
    const few = await engine.sample(adapter, { ...request, count: 2 }, always);
    expect(many.sequences).toHaveLength(37);
    expect(few.sequences).toEqual(many.sequences.slice(0, 2));
    expect(new Set(many.sequences.map(({ tokens }) => tokens.join())).size).toBe(37);
    const other = await engine.sample(adapter, { ...request, count: 2, seed: 6 }, always);
    expect(other.sequences).not.toEqual(few.sequences);
  });

  it('draws tokens with the probabilities of the model', async () => {
    const prompt = randomTokens(4, 8);
    const draws = await engine.sample(adapter, { ...request, prompt, count: 1000, maxTokens: 1 }, always);
    const seen = new Map<number, number>();
    for (const { tokens } of draws.sequences) seen.set(tokens[0] ?? -1, (seen.get(tokens[0] ?? -1) ?? 0) + 1);
    let chi = 0;
    for (let target = 0; target < SMALL.vocabulary; target++) {
      const targets = new Int32Array(4).fill(target);
      const [row] = (await engine.forward(adapter, batch({ tokens: prompt, targets }))).logprobs;
      const expected = 1000 * Math.exp(row?.at(-1) ?? 0);
      chi += ((seen.get(target) ?? 0) - expected) ** 2 / expected;
    }
    // 39 degrees of freedom: beyond 80 once in ten thousand seeds.
    expect(chi).toBeLessThan(80);
  });

  it('respects topK and topP, and ends after a stop token, which is included', async () => {
    const wide = await engine.sample(undefined, { ...request, count: 64, maxTokens: 1 }, always);
    const greedy = await engine.sample(
      undefined,
      { ...request, temperature: 0, maxTokens: 1, count: 1 },
      always,
    );
    expect(new Set(wide.sequences.map(({ tokens }) => tokens[0])).size).toBeGreaterThan(3);
    for (const narrow of [{ topK: 1 }, { topP: 1e-6 }]) {
      const { sequences } = await engine.sample(
        undefined,
        { ...request, ...narrow, count: 64, maxTokens: 1 },
        always,
      );
      expect(new Set(sequences.map(({ tokens }) => tokens[0]))).toEqual(new Set(greedy.sequences[0]?.tokens));
    }
    const three = await engine.sample(undefined, { ...request, topK: 3, count: 64, maxTokens: 1 }, always);
    expect(new Set(three.sequences.map(({ tokens }) => tokens[0])).size).toBe(3);
    const free = await engine.sample(undefined, { ...request, count: 1 }, always);
    const stop = free.sequences[0]?.tokens[4] ?? -1;
    const stopped = await engine.sample(undefined, { ...request, count: 1, stop: [stop] }, always);
    const first = free.sequences[0]?.tokens.indexOf(stop) ?? -1;
    expect(stopped.sequences[0]?.tokens).toEqual(free.sequences[0]?.tokens.slice(0, first + 1));
    expect(stopped.sequences[0]?.stop).toBe('stop');
    expect(free.sequences[0]?.stop).toBe('length');
  });

  it('ends at the end of the context, and scores the prompt on demand', async () => {
    const prompt = randomTokens(60, 2);
    const asked = { ...request, prompt, maxTokens: 50, wantsPromptLogprobs: true };
    const { sequences, promptLogprobs } = await engine.sample(adapter, asked, always);
    expect(sequences.map(({ tokens }) => tokens.length)).toEqual([4, 4, 4]);
    const [row] = (
      await engine.forward(adapter, batch({ tokens: prompt.slice(0, -1), targets: prompt.slice(1) }))
    ).logprobs;
    expect(promptLogprobs?.[0]).toBeNaN();
    expect(promptLogprobs?.slice(1)).toEqual(row);
  });
});
