import { type Block, blockMean } from '../../stats/block-mean.ts';
import type { Interval } from '../../stats/interval.ts';
import { wilsonInterval } from '../../stats/wilson.ts';
import type { Row } from '../row.ts';
import { gradeOf, isAbout, type Measure } from './measure.ts';
import { blockKey } from './order-rows.ts';

/** A mean, with what is known of it. */
export interface Figure {
  /** Undefined when nothing was graded. */
  readonly value?: number;
  /** 95 %. Undefined when there is too little to give one. */
  readonly interval?: Interval;
  /** How many values it is the mean of. */
  readonly n: number;
  /** Questions it should be about and is not, because they could not be graded. */
  readonly ungraded: number;
}

/** Over days of runs, drawn anew as a whole: the same draws for every figure, so that the same values have the same interval. */
export function figureOf(rows: readonly Row[], measure: Measure): Figure {
  const { blocks, n, asked } = blocksOf(rows, measure);
  const { mean, interval } = blockMean(blocks, { seed: 'figure', range: { low: 0, high: 1 } });
  return {
    ...(mean === undefined ? {} : { value: mean }),
    ...(interval === undefined ? {} : { interval }),
    n,
    ungraded: asked - n,
  };
}

/**
 * Over questions as if each were independent (Wilson): for parts too small to be drawn anew, such as one day. For scores
 * between 0 and 1 it is a little too wide, for days that hang together a little too narrow; no claim rests on it.
 */
export function smallFigureOf(rows: readonly Row[], measure: Measure): Figure {
  const { blocks, n, asked } = blocksOf(rows, measure);
  return shareFigure(
    blocks.reduce((all, { sum }) => all + sum, 0),
    n,
    asked - n,
  );
}

export const shareFigure = (sum: number, n: number, ungraded = 0): Figure => ({
  ...(n === 0 ? {} : { value: sum / n, interval: wilsonInterval(sum, n) }),
  n,
  ungraded,
});

function blocksOf(
  rows: readonly Row[],
  measure: Measure,
): { readonly blocks: readonly Block[]; readonly n: number; readonly asked: number } {
  const blocks = new Map<string, Block>();
  let n = 0;
  let asked = 0;
  for (const row of rows) {
    if (!isAbout(measure, row)) continue;
    asked++;
    const value = gradeOf(measure, row);
    if (value === undefined) continue;
    n++;
    const key = blockKey(row);
    const held = blocks.get(key) ?? { sum: 0, n: 0 };
    blocks.set(key, { sum: held.sum + value, n: held.n + 1 });
  }
  return { blocks: [...blocks.values()], n, asked };
}
