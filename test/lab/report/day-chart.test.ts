import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dayChart } from '../../../lab/report/demo-summary.ts';

const LEVELS = ' ▁▂▃▄▅▆▇█';
const share = fc.double({ min: 0, max: 1, noNaN: true });

/** The heights of a panel's bars, in eighths of a line. */
function heights(lines: readonly string[], days: number): readonly number[] {
  const from = (lines[0] ?? '').indexOf('┤') + 1;
  return Array.from({ length: days }, (_, day) =>
    lines.reduce((sum, line) => sum + LEVELS.indexOf([...line][from + 4 * day] ?? ' '), 0),
  );
}

describe('dayChart', () => {
  it('draws a bar as high as its share, to an eighth of a line', () => {
    let drawn = 0;
    fc.assert(
      fc.property(
        fc.array(share, { minLength: 1, maxLength: 14 }),
        fc.integer({ min: 1, max: 8 }),
        (shares, rows) => {
          const lines = dayChart({ panels: [{ name: 'x', shares }], marks: [], rows });
          expect(lines).toHaveLength(rows + 1);
          for (const [day, height] of heights(lines.slice(0, rows), shares.length).entries()) {
            const exact = (shares[day] ?? 0) * rows * 8;
            expect(Math.abs(height - exact)).toBeLessThanOrEqual(exact > 0 && exact < 1 ? 1 : 0.5);
            drawn++;
          }
        },
      ),
    );
    expect(drawn).toBeGreaterThan(300);
    expect(
      heights(dayChart({ panels: [{ name: 'x', shares: [1] }], marks: [], rows: 4 }).slice(0, 4), 1),
    ).toEqual([32]);
  });

  it('is monotonic, and draws a visible bar exactly for shares above 0', () => {
    fc.assert(
      fc.property(share, share, (a, b) => {
        const [low, high] = a < b ? [a, b] : [b, a];
        const lines = dayChart({ panels: [{ name: 'x', shares: [low, high, 0] }], marks: [], rows: 4 });
        const [first = 0, second = 0, none] = heights(lines.slice(0, 4), 3);
        expect(first).toBeLessThanOrEqual(second);
        expect(first > 0).toBe(low > 0);
        expect(none).toBe(0);
      }),
    );
  });

  it('draws each panel on the same scale as alone', () => {
    const panel = (name: string) =>
      fc
        .array(fc.option(share, { nil: undefined }), { minLength: 5, maxLength: 5 })
        .map((shares) => ({ name, shares }));
    fc.assert(
      fc.property(panel('baseline'), panel('skills'), panel('full'), (...panels) => {
        const together = dayChart({ panels, marks: [], rows: 3 });
        const alone = panels.flatMap(({ shares }) =>
          dayChart({ panels: [{ name: 'baseline', shares }], marks: [], rows: 3 }).slice(0, 3),
        );
        const bars = (line: string): string => line.slice(line.search(/[┤│]/));
        expect(together.slice(0, 9).map(bars)).toEqual(alone.map(bars));
      }),
    );
  });

  it('marks days below their bars, and draws a dot for a day without a value', () => {
    const lines = dayChart({
      panels: [{ name: 'full', shares: [1, undefined, 0.5] }],
      marks: [
        { sign: '^', days: [0, 2], meaning: 'a rule begins' },
        { sign: 'w', days: [], meaning: 'unused' },
      ],
      rows: 2,
    });
    expect(lines).toEqual([
      'full 100 % ┤███',
      '       0 % ┤███ ··· ███',
      '            1   2   3',
      '            ^       ^   ^ a rule begins',
    ]);
  });

  it('returns no lines without data', () => {
    expect(dayChart({ panels: [], marks: [], rows: 4 })).toEqual([]);
    expect(dayChart({ panels: [{ name: 'x', shares: [] }], marks: [], rows: 4 })).toEqual([]);
  });
});
