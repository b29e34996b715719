import { describe, expect, it } from 'vitest';
import { logPlots } from '../../../lab/report/log-plot.ts';
import { toText } from '../../../lab/report/markup.ts';

const draw = (points: readonly { readonly size: number; readonly value: number }[]): string =>
  toText(
    logPlots([{ title: 'CPU <ms>', along: 'turns', series: [{ name: 'instar', points }] }], 1, 'growth'),
  );

const circles = (svg: string): readonly (readonly number[])[] =>
  [...svg.matchAll(/<circle [^>]*cx="([\d.]+)" cy="([\d.]+)"/g)].map(([, x, y]) => [Number(x), Number(y)]);

describe('a plot with logarithmic axes', () => {
  it('puts equal factors at equal distances', () => {
    const points = [10, 100, 1000].map((size) => ({ size, value: size * 2 }));
    const [first = [], second = [], third = []] = circles(draw(points));
    expect((second[0] ?? 0) - (first[0] ?? 0)).toBeCloseTo((third[0] ?? 0) - (second[0] ?? 0), 0);
    expect((second[1] ?? 0) - (first[1] ?? 0)).toBeCloseTo((third[1] ?? 0) - (second[1] ?? 0), 0);
  });

  it('draws what grows in proportion along the dashed line', () => {
    const svg = draw([10, 10_000].map((size) => ({ size, value: size })));
    const [x, y] = circles(svg).at(-1) ?? [];
    expect(svg).toContain(`x2="${x}" y2="${y}"`);
  });

  it('leaves out values that have no logarithm', () => {
    const svg = draw([
      { size: 10, value: 0 },
      { size: 100, value: Number.NaN },
      { size: 1000, value: 5 },
    ]);
    expect(circles(svg)).toHaveLength(1);
    expect(svg).not.toContain('NaN');
  });

  it('escapes its words, and is well formed without a point', () => {
    expect(draw([])).toContain('CPU &lt;ms&gt;');
    expect(draw([])).not.toContain('Infinity');
  });
});
