import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { activationOf, UNKNOWN_USE, type Usefulness } from '../../../src/lessons/recall/activation.ts';
import { lesson } from './sample-lessons.ts';

const DAY = 86_400_000;
const days = fc.double({ min: 0, max: 4000, noNaN: true });
const uses = fc.array(
  fc.record({ at: days.map((day) => day * DAY), weight: fc.double({ min: 0, max: 1, noNaN: true }) }),
  {
    maxLength: 8,
  },
);
const useful = (list: Usefulness['uses']): Usefulness => ({ uses: list, isProven: false });

describe('activation', () => {
  it('is 1 for a new lesson and for a pinned one of any age', () => {
    expect(activationOf(lesson('a'), UNKNOWN_USE, 0)).toBe(1);
    expect(activationOf(lesson('a', { pinned: true }), UNKNOWN_USE, 9999 * DAY)).toBe(1);
  });

  it('loses half of what can be lost in a half-life', () => {
    const plain = lesson('a', { note: { importance: 0, halfLifeDays: 10 } });
    expect(activationOf(plain, UNKNOWN_USE, 10 * DAY)).toBeCloseTo(0.2 + 0.8 / 2);
  });

  it('never increases with time alone, and never falls below its floor', () => {
    fc.assert(
      fc.property(uses, days, days, (list, one, more) => {
        const before = 5000 * DAY + one * DAY;
        const [now, later] = [before, before + more * DAY].map((at) =>
          activationOf(lesson('a'), useful(list), at),
        );
        expect(later).toBeLessThanOrEqual((now ?? 0) + 1e-12);
        expect(later).toBeGreaterThanOrEqual(0.3);
        expect(now).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('increases with each proven use, also the fiftieth', () => {
    fc.assert(
      fc.property(uses, fc.double({ min: 0.1, max: 1, noNaN: true }), (list, weight) => {
        const now = 4001 * DAY;
        const more = [...list, { at: now - DAY, weight }];
        expect(activationOf(lesson('a'), useful(more), now)).toBeGreaterThanOrEqual(
          activationOf(lesson('a'), useful(list), now),
        );
      }),
    );
    const many = (count: number): number =>
      activationOf(
        lesson('a'),
        useful(Array.from({ length: count }, (_, n) => ({ at: n * DAY, weight: 0.2 }))),
        400 * DAY,
      );
    expect(many(51) - many(50)).toBeGreaterThan(0);
    expect(many(51) - many(50)).toBeLessThan(0.02);
  });

  it('is a little higher for important lessons', () => {
    const [little, much] = [0, 1].map((importance) =>
      activationOf(lesson('a', { note: { importance } }), UNKNOWN_USE, 365 * DAY),
    );
    expect(much).toBeGreaterThan(little ?? 1);
    expect((much ?? 1) - (little ?? 0)).toBeLessThan(0.25);
  });
});
