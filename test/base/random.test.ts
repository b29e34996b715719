import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createRandom } from '../../src/base/random.ts';

/** sfc32 in plain integer arithmetic. */
function plainStream(seed: string, count: number): readonly number[] {
  const bytes = hash('sha256', seed, 'buffer');
  const mask = 0xffffffffn;
  let [a, b, c, counter] = [0, 4, 8].map((at) => BigInt(bytes.readUInt32LE(at))).concat(1n) as [
    bigint,
    bigint,
    bigint,
    bigint,
  ];
  const draw = (): bigint => {
    const out = (a + b + counter) & mask;
    counter = (counter + 1n) & mask;
    a = b ^ (b >> 9n);
    b = (c + (c << 3n)) & mask;
    c = ((((c << 21n) | (c >> 11n)) & mask) + out) & mask;
    return out;
  };
  for (let round = 0; round < 15; round++) draw();
  return Array.from({ length: count }, () => {
    const [high, low] = [draw(), draw()];
    return Number((high >> 5n) * 2n ** 26n + (low >> 6n)) / 2 ** 53;
  });
}

const stream = (seed: string, count: number): readonly number[] => {
  const random = createRandom(seed);
  return Array.from({ length: count }, () => random.next());
};

/** Under 2 standard deviations of chi-squared, roughly; these streams are fixed, so it passes always or never. */
const chiSquared = (counts: readonly number[]): number => {
  const expected = counts.reduce((sum, count) => sum + count, 0) / counts.length;
  return counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
};

describe('createRandom', () => {
  it('is sfc32, bit for bit', () => {
    for (const seed of ['', 'a', 'run/1', 'ü']) expect(stream(seed, 200)).toEqual(plainStream(seed, 200));
  });

  it('gives the same stream for the same seed and an unrelated one for a similar seed', () => {
    expect(stream('run/1', 50)).toEqual(stream('run/1', 50));
    const one = stream('run/1', 2000);
    const two = stream('run/2', 2000);
    const together = one.reduce((sum, value, at) => sum + (value - 0.5) * ((two[at] ?? 0) - 0.5), 0) / 2000;
    expect(Math.abs(together * 12)).toBeLessThan(3 / Math.sqrt(2000));
  });

  it('fills a grid of consecutive pairs evenly', () => {
    const random = createRandom('even');
    const cells = Array.from({ length: 100 }, () => 0);
    for (let draw = 0; draw < 50_000; draw++) {
      const cell = random.below(10) * 10 + random.below(10);
      cells[cell] = (cells[cell] ?? 0) + 1;
    }
    expect(chiSquared(cells)).toBeLessThan(99 + 3 * Math.sqrt(198));
  });

  it('has uniform first numbers over seeds, too', () => {
    const cells = Array.from({ length: 20 }, () => 0);
    for (let seed = 0; seed < 4000; seed++) {
      const cell = createRandom(`seed ${seed}`).below(20);
      cells[cell] = (cells[cell] ?? 0) + 1;
    }
    expect(chiSquared(cells)).toBeLessThan(19 + 3 * Math.sqrt(38));
  });
});
