import { describe, expect, it } from 'vitest';
import { signFlip } from '../../lab/report/paired-bootstrap.ts';
import { createRandom } from '../../src/base/random.ts';

describe('signFlip', () => {
  it('enumerates few values: five of one sign occur by chance twice in 32 times', () => {
    expect(signFlip([1, 1, 1, 1, 1], { seed: '' })).toBe(2 / 32);
    expect(signFlip([1, 2, 4], { seed: '' })).toBe(2 / 8);
    expect(signFlip([3, -1, 1], { seed: '' })).toBe(6 / 8);
  });

  it('ignores values that are 0', () => {
    expect(signFlip([1, 0, 1, 0, 0], { seed: '' })).toBe(signFlip([1, 1], { seed: '' }));
    expect(signFlip([], { seed: '' })).toBe(1);
    expect(signFlip([0, 0], { seed: '' })).toBe(1);
  });

  it('is never 0: the smallest p-value is one in all flips', () => {
    expect(
      signFlip(
        Array.from({ length: 60 }, () => 1),
        { seed: '', flips: 500 },
      ),
    ).toBe(1 / 501);
  });

  it('samples what it cannot enumerate, and agrees with the enumeration', () => {
    const values = Array.from(
      { length: 12 },
      (_, place) => Math.sqrt(place + 2) * (place % 3 === 0 ? -0.1 : 0.1),
    );
    const exact = signFlip(values, { seed: '' });
    // A thirteenth, tiny value makes it sample.
    const drawn = signFlip([...values, 1e-6], { seed: 'draw', flips: 20_000 });
    expect(drawn).toBeCloseTo(exact, 1);
    expect(Math.abs(drawn - exact)).toBeLessThan(0.012);
  });

  it('is at most 0.05 in about 5 % of runs without a difference', () => {
    let small = 0;
    for (let run = 0; run < 400; run++) {
      const random = createRandom(`flip/${run}`);
      const values = Array.from({ length: 20 }, () => random.next() - 0.5);
      if (signFlip(values, { seed: String(run), flips: 400 }) <= 0.05) small++;
    }
    expect(small).toBeGreaterThan(6);
    expect(small).toBeLessThan(36);
  });
});
