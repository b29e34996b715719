import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isHeldOut } from '../../../src/lessons/effect/measure-effect.ts';

const share = (count: number, isCounted: (at: number) => boolean): number =>
  Array.from({ length: count }, (_, at) => at).filter(isCounted).length / count;

describe('isHeldOut', () => {
  it('never holds out with a share of 0 or NaN', () => {
    for (let at = 0; at < 200; at++) {
      expect(isHeldOut(`s${at}`, 'l', 0)).toBe(false);
      expect(isHeldOut(`s${at}`, 'l', Number.NaN)).toBe(false);
    }
  });

  it('holds nothing out without a session (not: the same tenth of the lessons from everyone)', () => {
    expect(share(2000, (at) => isHeldOut('', `l${at}`, 0.5))).toBe(0);
  });

  it('holds out the requested share, over sessions and over lessons', () => {
    for (const asked of [0.05, 0.1, 0.5]) {
      const error = 3 * Math.sqrt((asked * (1 - asked)) / 5000);
      expect(Math.abs(share(5000, (at) => isHeldOut(`s${at}`, 'l_1', asked)) - asked)).toBeLessThan(error);
      expect(Math.abs(share(5000, (at) => isHeldOut('s_1', `l${at}`, asked)) - asked)).toBeLessThan(error);
    }
  });

  it('holds out lessons independently of each other', () => {
    const both = share(20_000, (at) => isHeldOut(`s${at}`, 'l_1', 0.3) && isHeldOut(`s${at}`, 'l_2', 0.3));
    expect(Math.abs(both - 0.09)).toBeLessThan(3 * Math.sqrt((0.09 * 0.91) / 20_000));
  });

  it('gives the same result as earlier releases: a session must not change its arm', () => {
    const held = Array.from({ length: 60 }, (_, at) => at).filter((at) => isHeldOut(`s_${at}`, 'l_1', 0.2));
    expect(held).toEqual([0, 1, 3, 10, 12, 28, 29, 36, 41, 43, 47, 49, 51, 57]);
  });

  it('distinguishes pairs with the same concatenation, and grows with the share', () => {
    const sides = Array.from({ length: 64 }, (_, at) => [
      isHeldOut(`${at}a`, 'b', 0.5),
      isHeldOut(`${at}`, 'ab', 0.5),
    ]);
    expect(sides.some(([one, other]) => one !== other)).toBe(true);
    fc.assert(
      fc.property(
        fc.string(),
        fc.string(),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (session, lesson, most) => {
          if (isHeldOut(session, lesson, most / 2)) expect(isHeldOut(session, lesson, most)).toBe(true);
        },
      ),
    );
  });
});
