import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type FloatTensor, readSafetensors, writeSafetensors } from '../../../../src/base/safetensors.ts';
import type { Engine, LossName, TrainBatch } from '../../../../train/nano/engine.ts';
import { NANO_SHAPE } from '../../../../train/nano/model/decoder-weights.ts';
import { createEngine } from '../../../support/one-thread-engine.ts';
import { closeTo } from './small-model.ts';

/** What PyTorch computed, in double precision, from the weights that ship. */
interface Reference {
  /** From the root of the checkout. */
  readonly weightsFile: string;
  readonly weightsSha256: string;
  /**
   * Element i, row by row, of tensor number t is amplitude · sin(frequency · i + t); tensors are numbered layer by layer, in the
   * order q k v o gate up down, A before B.
   */
  readonly adapter: {
    readonly rank: number;
    readonly alpha: number;
    readonly amplitude: number;
    readonly frequency: number;
  };
  readonly prompts: readonly {
    readonly tokens: readonly number[];
    readonly withAdapter: boolean;
    /** Log-softmax over the vocabulary after the last token. */
    readonly lastLogprobs: readonly number[];
    /** What follows when the likeliest token is taken each time. */
    readonly greedy: readonly number[];
  }[];
  /** With the adapter. */
  readonly batches: readonly {
    readonly loss: LossName;
    readonly clip?: { readonly low: number; readonly high: number };
    readonly data: readonly Record<
      'tokens' | 'targets' | 'weights' | 'advantages' | 'logprobs',
      readonly number[]
    >[];
    readonly lossSum: number;
    readonly targetLogprobs: readonly (readonly number[])[];
    /** By the tensor's name in PEFT: the norm of its gradient, and its first elements. */
    readonly gradient: Readonly<Record<string, { readonly norm: number; readonly first: readonly number[] }>>;
  }[];
}

/** Another implementation wrote it (lab/measure/nano/reference.py at 78c54151); it follows the weights. */
const given = JSON.parse(readFileSync(path.join(import.meta.dirname, 'reference.json'), 'utf8')) as Reference;

/** The adapter of the reference, in an engine over its weights. */
const open = async ({ adapter, weightsFile }: Reference): Promise<{ engine: Engine; name: string }> => {
  const weights = readFileSync(path.resolve(import.meta.dirname, '../../../..', weightsFile));
  const engine = createEngine({ weights, shape: NANO_SHAPE, name: 'reference' });
  const { rank, alpha, amplitude, frequency } = adapter;
  const blank = await engine.createAdapter({ rank, alpha, seed: 0, attention: true, mlp: true });
  const { tensors, metadata } = readSafetensors(await engine.save(blank, false));
  const filled = [...tensors].map(([name, { shape, values }], t): [string, FloatTensor] => [
    name,
    { shape, values: values.map((_, i) => amplitude * Math.sin(frequency * i + t)) },
  ]);
  return { engine, name: await engine.load(writeSafetensors(new Map(filled), metadata), false) };
};

/** Log-probabilities of every token of the vocabulary after these. */
const everyNext = async (
  engine: Engine,
  adapter: string | undefined,
  tokens: Int32Array,
): Promise<number[]> => {
  const found: number[] = [];
  for (let first = 0; first < NANO_SHAPE.vocabulary; first += 64) {
    const data = Array.from({ length: 64 }, (_, i) => ({
      tokens,
      targets: new Int32Array(tokens.length).fill(first + i),
    }));
    const { logprobs } = await engine.forward(adapter, { loss: 'cross_entropy', data });
    found.push(...logprobs.map((row) => row.at(-1) ?? Number.NaN));
  }
  return found;
};

describe('PyTorch’s numbers', () => {
  it('were computed from the weights that ship', () => {
    const bytes = readFileSync(path.resolve(import.meta.dirname, '../../../..', given.weightsFile));
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(given.weightsSha256);
  });

  it('match the distribution after a prompt, and the greedy continuation', async () => {
    const { engine, name } = await open(given);
    let followed = 0;
    for (const { tokens, withAdapter, lastLogprobs, greedy } of given.prompts) {
      const prompt = Int32Array.from(tokens);
      const adapter = withAdapter ? name : undefined;
      expect(closeTo(await everyNext(engine, adapter, prompt), lastLogprobs)).toBeLessThan(1e-4);
      const { sequences } = await engine.sample(
        adapter,
        {
          prompt,
          count: 1,
          maxTokens: greedy.length,
          temperature: 0,
          topK: -1,
          topP: 1,
          seed: 0,
          stop: [],
        },
        new AbortController().signal,
      );
      expect([...(sequences[0]?.tokens ?? [])]).toEqual(greedy);
      followed += greedy.length;
    }
    expect(new Set(given.prompts.map(({ withAdapter }) => withAdapter)).size).toBe(2);
    expect(followed).toBeGreaterThan(100);
  });

  it('match the losses and the gradients of all factors', async () => {
    const { engine, name } = await open(given);
    expect(new Set(given.batches.map(({ loss }) => loss)).size).toBe(4);
    const blank = await engine.save(name, false);
    for (const { loss, clip, data, lossSum, targetLogprobs, gradient } of given.batches) {
      const adapter = await engine.load(blank, false);
      const batch: TrainBatch = {
        loss,
        ...(clip && { clip }),
        data: data.map((datum) => ({
          tokens: Int32Array.from(datum.tokens),
          targets: Int32Array.from(datum.targets),
          weights: Float32Array.from(datum.weights),
          advantages: Float32Array.from(datum.advantages),
          logprobs: Float32Array.from(datum.logprobs),
        })),
      };
      const { logprobs, metrics } = await engine.forwardBackward(adapter, batch);
      expect(Math.abs((metrics['loss:sum'] ?? Number.NaN) / lossSum - 1)).toBeLessThan(1e-4);
      targetLogprobs.forEach((row, i) => {
        expect(closeTo(logprobs[i] ?? [], row)).toBeLessThan(1e-4);
      });
      const { tensors } = readSafetensors(await engine.save(adapter, true));
      const gathered = tensors.get('optimizer.gathered')?.values ?? new Float32Array();
      const names = [...tensors.keys()].filter((key) => key.includes('.lora_'));
      let at = 0;
      for (const key of names) {
        const own = gathered.subarray(at, at + (tensors.get(key)?.values.length ?? 0));
        at += own.length;
        const wanted = gradient[key];
        expect(wanted, key).toBeDefined();
        expect(Math.abs(Math.hypot(...own) / (wanted?.norm ?? 0) - 1)).toBeLessThan(1e-3);
        const first = wanted?.first ?? [];
        expect(closeTo(own.slice(0, first.length), first)).toBeLessThan(1e-3 * (wanted?.norm ?? 0));
      }
      expect(names).toHaveLength(NANO_SHAPE.layers * 14);
    }
  });
});
