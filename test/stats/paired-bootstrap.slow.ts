import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MIN_BLOCKS } from '../../lab/report/block-bootstrap.ts';
import { type PairedMeasurement, pairedBootstrap } from '../../lab/report/paired-bootstrap.ts';
import { createRandom } from '../../src/base/random.ts';
import { coverage, draw, smallWorlds } from './paired-worlds.ts';

describe('the 95 % interval of a paired difference', () => {
  it.each(smallWorlds)('covers the truth in 92 to 98 % of 400 experiments: $name', (world) => {
    const share = coverage(world);
    expect(share).toBeGreaterThanOrEqual(0.92);
    expect(share).toBeLessThanOrEqual(0.98);
  });

  it('would be far too narrow if the pairs of a day were treated as independent', () => {
    const world = smallWorlds.find(({ name }) => name.startsWith('a whole day'));
    if (world === undefined) throw new Error('no such world');
    let covered = 0;
    for (let run = 0; run < 200; run++) {
      const alone = draw(world, run).map((pair, place) => ({ ...pair, block: String(place) }));
      const { interval } = pairedBootstrap(alone, { seed: `${run}`, resamples: 200 });
      if (interval !== undefined && interval.low <= world.truth && world.truth <= interval.high) covered++;
    }
    expect(covered / 200).toBeLessThan(0.7);
  });
});

describe('pairedBootstrap', () => {
  const apart = (differences: readonly number[]): readonly PairedMeasurement[] =>
    differences.map((difference, place) => ({
      block: String(place),
      a: Math.max(0, difference),
      b: Math.max(0, -difference),
    }));

  it('claims a difference in at most 5 % of runs without one in which few pairs differ', () => {
    let shown = 0;
    let beyond = 0;
    for (let run = 0; run < 400; run++) {
      const random = createRandom(`rare/${run}`);
      const differences = Array.from({ length: 120 }, () => {
        const luck = random.next();
        return luck < 0.017 ? 1 : luck < 0.034 ? -1 : 0;
      });
      const found = pairedBootstrap(apart(differences), { seed: `${run}`, resamples: 400 });
      if (found.isShown) shown++;
      if (found.interval !== undefined && (found.interval.low > 0 || found.interval.high < 0)) beyond++;
    }
    expect(shown / 400).toBeLessThanOrEqual(0.05);
    // The purpose of the sign-flip test.
    expect(beyond).toBeGreaterThan(shown);
  });

  it('has no result without pairs', () => {
    expect(pairedBootstrap([], { seed: '' })).toEqual({ n: 0, blocks: 0, isShown: false });
  });

  it('has a mean but no interval for one block with many pairs', () => {
    const pairs = Array.from({ length: 500 }, () => ({ block: 'one', a: 1, b: 0 }));
    expect(pairedBootstrap(pairs, { seed: '' })).toEqual({ mean: 1, n: 500, blocks: 1, isShown: false });
  });

  it('has no interval below six blocks and one from there on', () => {
    const of = (blocks: number) => pairedBootstrap(apart([1, 0, 1, 1, 0, 1].slice(0, blocks)), { seed: '' });
    expect(of(MIN_BLOCKS - 1).interval).toBeUndefined();
    expect(of(MIN_BLOCKS).interval).toBeDefined();
  });

  it('keeps an interval when all blocks are equal: 42 days without a difference still allow one of 8 points', () => {
    const none = pairedBootstrap(apart(Array.from({ length: 42 }, () => 0)), { seed: '' });
    expect(none.isShown).toBe(false);
    expect(none.standardError).toBeUndefined();
    expect(none.interval?.low).toBeCloseTo(-(1 - 0.025 ** (1 / 42)), 10);
    expect(none.interval?.high).toBeCloseTo(1 - 0.025 ** (1 / 42), 10);
    const always = pairedBootstrap(apart(Array.from({ length: 42 }, () => 1)), { seed: '' });
    expect(always.isShown).toBe(true);
    expect(always.interval?.low).toBeCloseTo(1 - 2 * (1 - 0.025 ** (1 / 42)), 10);
    expect(always.interval?.high).toBe(1);
  });

  const pairs = fc.array(
    fc.record({
      block: fc.integer({ min: 0, max: 11 }).map(String),
      a: fc.constantFrom(0, 0.25, 0.5, 1),
      b: fc.constantFrom(0, 0.25, 0.5, 1),
    }),
    { minLength: 8, maxLength: 80 },
  );

  it('is reproducible for a seed, contains its mean, and stays within the range', () => {
    let withInterval = 0;
    fc.assert(
      fc.property(pairs, (given) => {
        const options = { seed: 'same', resamples: 300 };
        const found = pairedBootstrap(given, options);
        expect(pairedBootstrap(given, options)).toEqual(found);
        if (found.interval === undefined || found.mean === undefined) return;
        withInterval++;
        expect(found.interval.low).toBeLessThanOrEqual(found.mean + 1e-12);
        expect(found.interval.high).toBeGreaterThanOrEqual(found.mean - 1e-12);
        expect(found.interval.low).toBeGreaterThanOrEqual(-1);
        expect(found.interval.high).toBeLessThanOrEqual(1);
      }),
    );
    expect(withInterval).toBeGreaterThan(10);
  });

  it('is antisymmetric in a and b', () => {
    let turned = 0;
    fc.assert(
      fc.property(pairs, (given) => {
        const options = { seed: 'turn', resamples: 300 };
        const one = pairedBootstrap(given, options);
        const other = pairedBootstrap(
          given.map(({ block, a, b }) => ({ block, a: b, b: a })),
          options,
        );
        expect(other.isShown).toBe(one.isShown);
        if (one.interval === undefined) return;
        turned++;
        expect(other.interval?.low).toBeCloseTo(-one.interval.high, 10);
        expect(other.interval?.high).toBeCloseTo(-one.interval.low, 10);
      }),
    );
    expect(turned).toBeGreaterThan(10);
  });
});
