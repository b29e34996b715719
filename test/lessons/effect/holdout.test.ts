import { describe, expect, it } from 'vitest';
import { createHoldout, type HoldoutLot } from '../../../src/lessons/effect/hold-out.ts';

const LESSONS = ['l_1', 'l_2', 'l_3', 'l_4', 'l_5', 'l_6', 'l_7'];
const counting = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at);

/** The lots of one session whose lessons come up in this order. */
function lotsOf(session: string, lessons: readonly string[], share: number): readonly HoldoutLot[] {
  const { lotOf } = createHoldout(() => share);
  return lessons.map((lesson) => lotOf({ session }, lesson));
}
const shareOf = (count: number, isCounted: (at: number) => boolean): number =>
  counting(count).filter(isCounted).length / count;

describe('hold-out', () => {
  it('takes one lesson from a session at most (not: each independently, so that some miss three)', () => {
    for (const share of [0.05, 0.1, 0.3, 0.5])
      for (const at of counting(500)) {
        const missing = lotsOf(`s${at}`, LESSONS, share).filter((lot) => lot === 'held-out');
        expect(missing.length).toBeLessThanOrEqual(1);
      }
  });

  it('holds every lesson out with the same probability, whatever its place and however many there are', () => {
    for (const share of [0.05, 0.1, 0.5])
      for (const lessons of [LESSONS.slice(0, 1), LESSONS.slice(0, 2), LESSONS])
        for (const [place] of lessons.entries()) {
          if (place >= Math.floor(1 / share)) continue;
          const found = shareOf(2000, (at) => lotsOf(`s${at}`, lessons, share)[place] === 'held-out');
          expect(Math.abs(found - share)).toBeLessThan(4 * Math.sqrt((share * (1 - share)) / 2000));
        }
  });

  it('does not measure lessons for which a session has no place left (not: holds out a second one)', () => {
    const lots = lotsOf('s_1', LESSONS, 0.3);
    expect(lots.slice(3)).toEqual(['unmeasured', 'unmeasured', 'unmeasured', 'unmeasured']);
    expect(lots.slice(0, 3)).not.toContain('unmeasured');
  });

  it('never holds out with a share of 0 or NaN, nor without a session', () => {
    for (const at of counting(200)) {
      expect(lotsOf(`s${at}`, LESSONS, 0)).not.toContain('held-out');
      expect(lotsOf(`s${at}`, LESSONS, Number.NaN)).not.toContain('held-out');
    }
    expect(lotsOf('', LESSONS, 0.5)).toEqual(LESSONS.map(() => 'shown'));
  });

  it('gives a lesson the same lot for the whole session, in whatever order lessons come up again', () => {
    const { lotOf } = createHoldout(() => 0.5);
    for (const at of counting(100)) {
      const first = new Map(LESSONS.map((lesson) => [lesson, lotOf({ session: `s${at}` }, lesson)]));
      for (const lesson of [...LESSONS].reverse())
        expect(lotOf({ session: `s${at}` }, lesson)).toBe(first.get(lesson));
    }
  });

  it('goes on from the record after a restart: what was shown stays shown, and nothing more is held out', () => {
    for (const at of counting(500)) {
      const session = `s${at}`;
      const before = lotsOf(session, LESSONS.slice(0, 3), 0.2);
      const of = (lot: HoldoutLot) => LESSONS.slice(0, 3).filter((_, place) => before[place] === lot);
      const drawn = { shown: of('shown'), heldOut: of('held-out') };
      const { lotOf } = createHoldout(() => 0.2);
      const after = [...LESSONS].reverse().map((lesson) => lotOf({ session, drawn }, lesson));
      expect([...after].reverse().slice(0, 3)).toEqual(before);
      expect(after.filter((lot) => lot === 'held-out').length).toBeLessThanOrEqual(1);
    }
  });

  it('holds nothing more out from a session of which an earlier version held out two lessons', () => {
    const drawn = { shown: ['l_3'], heldOut: ['l_1', 'l_2'] };
    for (const at of counting(300)) {
      const { lotOf } = createHoldout(() => 0.5);
      const lots = LESSONS.map((lesson) => lotOf({ session: `s${at}`, drawn }, lesson));
      expect(lots.slice(0, 2)).toEqual(['held-out', 'held-out']);
      expect(lots.slice(2)).not.toContain('held-out');
    }
  });
});
