import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRandom } from '../../../src/base/random.ts';
import type { StepOutput, TrainDatum } from '../../../src/core/training.ts';
import { backoffMs, DEFAULT_TIMINGS } from '../../../train/tinker/post.ts';
import { PROFILES } from '../../../train/tinker/profiles.ts';
import { createRequestLimiter } from '../../../train/tinker/request-limiter.ts';
import { mergeOutputs } from '../../../train/tinker/tinker-model.ts';
import { CHUNK_LIMITS, encodeTrainCall, splitData } from '../../../train/tinker/train-messages.ts';

const datumOf = (length: number): TrainDatum => {
  const random = createRandom(`datum/${length}`);
  const floats = (): number[] => Array.from({ length }, () => random.next() * -20);
  const tokens = Array.from({ length }, () => random.below(150_000));
  return { tokens, targets: tokens, weights: floats(), advantages: floats(), logprobs: floats() };
};

describe('splitting data', () => {
  it('keeps the order, loses nothing, respects the limits, and fills every chunk', () => {
    let chunks = 0;
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 300 }), { maxLength: 60 }),
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 500, max: 30_000 }),
        (lengths, data, limit) => {
          const all = lengths.map((length) => ({
            tokens: Array.from({ length }, () => 1),
            targets: [],
            weights: [],
          }));
          const split = splitData(all, 'protobuf', { data, bytes: limit });
          const size = (chunk: readonly TrainDatum[]): number =>
            chunk.reduce((sum, { tokens }) => sum + 200 + 24 * tokens.length, 0);
          expect(split.flat()).toEqual(all);
          split.forEach((chunk, i) => {
            expect(chunk.length).toBeLessThanOrEqual(data);
            if (chunk.length > 1) expect(size(chunk)).toBeLessThanOrEqual(limit);
            const next = split[i + 1]?.[0];
            if (next !== undefined && chunk.length < data)
              expect(size([...chunk, next])).toBeGreaterThan(limit);
          });
          chunks += split.length;
        },
      ),
      { numRuns: 200, seed: 4 },
    );
    expect(chunks).toBeGreaterThan(500);
  });

  it.each(['json', 'protobuf'] as const)('estimates no less than a datum really takes in %s', (wire) => {
    for (const profile of [PROFILES.tinker, PROFILES.skyrl]) {
      const data = [datumOf(10), datumOf(1000), datumOf(3)];
      const limits = { ...CHUNK_LIMITS, bytes: 100_000 };
      for (const chunk of splitData(Array.from({ length: 30 }, () => data).flat(), wire, limits)) {
        const call = {
          modelId: 'm',
          seq: 1,
          input: { data: chunk, loss: 'ppo' as const },
          forwardOnly: false,
        };
        expect(encodeTrainCall(call, wire, profile).bytes.length).toBeLessThanOrEqual(100_000);
      }
    }
  });
});

describe('merging the answers to chunks', () => {
  it('merges each metric by its suffix, and drops what cannot be merged', () => {
    const output = (rows: number, value: number, own: Record<string, number> = {}): StepOutput => ({
      logprobs: Array.from({ length: rows }, () => [-rows]),
      metrics: {
        'a:sum': value,
        'b:mean': value,
        'c:min': value,
        'd:max': value,
        'e:slack': value,
        f: value,
        'g:odd': value,
        ...own,
      },
    });
    const merged = mergeOutputs([output(3, 1, { 'h:sum': 1 }), output(1, 5)]);
    expect(merged.metrics).toEqual({ 'a:sum': 6, 'b:mean': 2, 'c:min': 1, 'd:max': 5, 'e:slack': 3 });
    expect(merged.logprobs).toEqual([[-3], [-3], [-3], [-1]]);
    expect(mergeOutputs([output(2, 4)]).metrics.f).toBe(4);
  });
});

describe('a request limiter', () => {
  it('admits requests in order up to its limits, and never more', async () => {
    let entered = 0;
    let waited = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ bytes: fc.nat(15), leaves: fc.boolean(), aborts: fc.boolean() }), {
          maxLength: 40,
        }),
        async (steps) => {
          const gate = createRequestLimiter({ count: 3, bytes: 10 });
          const inside: (() => void)[] = [];
          const order: number[] = [];
          const waiting = new Map<number, AbortController>();
          for (const [i, { bytes, leaves, aborts }] of steps.entries()) {
            const patience = new AbortController();
            waiting.set(i, patience);
            void gate.enter(bytes, patience.signal).then((leave) => {
              waiting.delete(i);
              if (leave === undefined) return;
              order.push(i);
              inside.push(leave);
            });
            await new Promise(setImmediate);
            if (waiting.size > 0) waited++;
            expect(gate.count).toBeLessThanOrEqual(3);
            if (gate.count > 1) expect(gate.bytes).toBeLessThanOrEqual(10);
            if (leaves) inside.shift()?.();
            if (aborts) [...waiting.values()].at(-1)?.abort();
            await new Promise(setImmediate);
          }
          while (inside.length > 0) {
            for (const leave of inside.splice(0)) {
              leave();
              leave();
            }
            await new Promise(setImmediate);
          }
          expect(gate).toMatchObject({ count: 0, bytes: 0 });
          expect(waiting.size).toBe(0);
          expect(order).toEqual([...order].sort((a, b) => a - b));
          entered += order.length;
        },
      ),
      { numRuns: 120, seed: 5 },
    );
    expect(entered).toBeGreaterThan(300);
    expect(waited).toBeGreaterThan(100);
  });
});

describe('pauses between tries', () => {
  it('double up to a bound and are never zero', () => {
    const random = createRandom('pause');
    for (let tries = 0; tries < 60; tries++) {
      const full = Math.min(DEFAULT_TIMINGS.longestMs, DEFAULT_TIMINGS.backoffMs * 2 ** tries);
      const pause = backoffMs(DEFAULT_TIMINGS, tries, random.next);
      expect(pause).toBeGreaterThanOrEqual(full / 2);
      expect(pause).toBeLessThanOrEqual(full);
    }
  });
});
