import type { Interval } from '../../../stats/interval.ts';
import { blocksNeeded, smallestEffect } from '../../../stats/smallest-effect.ts';
import { type Measure, measurePairs } from '../measure-pairs.ts';
import { figuresOf } from '../metrics.ts';
import type { SeedPair } from '../pairs-in.ts';
import { MEASURES, type MeasureWords } from './measures.ts';

/** One measure with and without lessons. `better` and `worse` only where the numbers bear it out. */
export interface RunDifference {
  readonly measure: Measure;
  readonly verdict: 'better' | 'worse' | 'cannot say';
  /** skills less baseline; undefined when there is no pair. */
  readonly mean?: number;
  readonly interval?: Interval;
  /** How often chance alone, flipping the signs of runs, does as much. */
  readonly p?: number;
  readonly pairs: number;
  /** Pairs in which lessons went with a better figure, a worse one, the same. */
  readonly gained: number;
  readonly lost: number;
  readonly tied: number;
  readonly seeds: readonly { readonly seed: number; readonly mean: number }[];
  /** Pairs that an outage cut short, and the difference if they counted as they stand. */
  readonly leftOut: number;
  readonly withLeftOut?: number;
  /** The smallest true difference that so many runs show 4 times in 5. */
  readonly smallest?: number;
  /** What it takes to show a difference of `effect` 4 times in 5. */
  readonly needed?: { readonly effect: number; readonly seeds: number };
}

/** Differences below are not worth a run: what it would take is told for this one. */
const SMALLEST_OF_INTEREST = 0.01;

/** Measure by measure, run against run of the same seed and number. */
export function compareRuns(all: readonly SeedPair[], mostRefines: number): readonly RunDifference[] {
  const pairs = all.filter(({ isCut }) => !isCut);
  const options = { seed: 'pipeline', mostRefines };
  const measured = measurePairs(pairs, options);
  const asTheyStand = pairs.length === all.length ? undefined : measurePairs(all, options);
  return MEASURES.map((words) => {
    const { measure } = words;
    const { mean, interval, p, isShown, ...precision } = measured[measure].difference;
    const changes = pairs.map(({ seed, baseline, skills }) => ({
      seed,
      by: figuresOf(skills)[measure] - figuresOf(baseline)[measure],
    }));
    const smallest = smallestEffect(precision);
    const needed = mean === undefined ? undefined : whatItTakes(precision, mean, pairs);
    const withLeftOut = asTheyStand?.[measure].difference.mean;
    return {
      measure,
      verdict: !isShown || mean === undefined ? 'cannot say' : isGain(words, mean) ? 'better' : 'worse',
      ...(mean === undefined ? {} : { mean }),
      ...(interval === undefined ? {} : { interval }),
      ...(p === undefined ? {} : { p }),
      pairs: pairs.length,
      gained: changes.filter(({ by }) => by !== 0 && isGain(words, by)).length,
      lost: changes.filter(({ by }) => by !== 0 && !isGain(words, by)).length,
      tied: changes.filter(({ by }) => by === 0).length,
      seeds: bySeed(changes),
      leftOut: all.length - pairs.length,
      ...(withLeftOut === undefined ? {} : { withLeftOut }),
      ...(smallest === undefined ? {} : { smallest }),
      ...(needed === undefined ? {} : { needed }),
    };
  });
}

/** Whether a change in this direction is for the better. */
const isGain = ({ better }: MeasureWords, change: number): boolean =>
  better === 'more' ? change > 0 : change < 0;

function bySeed(changes: readonly { readonly seed: number; readonly by: number }[]): RunDifference['seeds'] {
  return [...new Set(changes.map(({ seed }) => seed))].map((seed) => {
    const own = changes.filter((one) => one.seed === seed);
    return { seed, mean: own.reduce((sum, { by }) => sum + by, 0) / own.length };
  });
}

function whatItTakes(
  precision: { readonly blocks: number; readonly standardError?: number },
  mean: number,
  pairs: readonly SeedPair[],
): RunDifference['needed'] {
  const effect = Math.abs(mean) >= SMALLEST_OF_INTEREST ? mean : Math.sign(mean || 1) * SMALLEST_OF_INTEREST;
  const blocks = blocksNeeded(precision, effect);
  if (blocks === undefined) return undefined;
  const perSeed = pairs.length / new Set(pairs.map(({ seed }) => seed)).size;
  return { effect, seeds: Math.ceil(blocks / perSeed) };
}
