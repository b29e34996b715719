import { FEWEST_BLOCKS } from '../../stats/block-mean.ts';
import type { Difference } from './compare.ts';
import { MEASURE_TITLES } from './measure.ts';
import { count, counted, fixed, points, pointsRange } from './numbers.ts';

/** What a difference means, in words that a reader may quote. */
export interface Explanation {
  /** `better`, or `cannot say`, with its number. */
  readonly claim: string;
  /** Why nothing is claimed, and what it would take; empty where something is. */
  readonly because: readonly string[];
  /** What stands beside every claim that has it. */
  readonly caveats: readonly string[];
}

/** Below it a claim is about the runs that were made, hardly about the next one. */
export const FEWEST_SEEDS = 3;

export function explainDifference(difference: Difference): Explanation {
  const { of, against, measure, verdict, mean, interval, pairs, blocks } = difference;
  const title = MEASURE_TITLES[measure];
  if (mean === undefined) {
    return {
      claim: `cannot say anything about ${title}: ${of} and ${against} have no graded question in common`,
      because: [],
      caveats: caveatsOf(difference),
    };
  }
  const size = `${points(mean)} points (95 %: ${pointsRange(interval)}; ${counted(pairs, 'pair')}, ${counted(blocks, 'day')} of runs)`;
  if (verdict === 'cannot say') {
    return {
      claim: `cannot say whether ${of} differs from ${against} in ${title}: ${size}`,
      because: becauseOf(difference),
      caveats: caveatsOf(difference),
    };
  }
  return {
    claim: `${of} is ${verdict} than ${against} in ${title}: ${size}`,
    because: [],
    caveats: caveatsOf(difference),
  };
}

function becauseOf({ interval, p, blocks, seeds, smallest, needed, pairs }: Difference): readonly string[] {
  if (interval === undefined) {
    return [`${counted(blocks, 'day')} of runs cannot be told from chance; ${FEWEST_BLOCKS} is the least`];
  }
  const out: string[] = [];
  if (interval.low > 0 || interval.high < 0) {
    out.push(
      `the interval leaves out 0, but so few days differ at all that chance does the same ${inWords(p ?? 1)}`,
    );
  }
  if (smallest === undefined) {
    out.push('every day differs by the same amount, so how far days spread was not seen');
    return out;
  }
  out.push(
    `a run like this shows a true difference of ${fixed(smallest * 100, 1)} points 4 times in 5, smaller ones less often`,
  );
  if (needed !== undefined && needed.pairs > pairs) {
    out.push(
      `to show ${points(needed.effect)} points it takes about ${counted(needed.seeds, 'seed')} in place of ${count(seeds.length)} (${count(needed.pairs - pairs)} more questions under each condition)`,
    );
  }
  return out;
}

function caveatsOf({ verdict, mean = 0, seeds, leftOut, worstCase }: Difference): readonly string[] {
  const out: string[] = [];
  if (seeds.length < FEWEST_SEEDS) {
    out.push(
      `${seeds.length === 1 ? 'one seed only' : counted(seeds.length, 'seed')}: fewer than ${FEWEST_SEEDS} say little about the next run`,
    );
  }
  const against = seeds.filter((seed) => seed.mean * mean < 0);
  if (against.length > 0) {
    out.push(
      `${counted(against.length, 'seed')} of ${seeds.length} went the other way (${against.map(({ seed, mean: by }) => `seed ${seed}: ${points(by)}`).join(', ')})`,
    );
  }
  const unpaired = leftOut.onlyOf + leftOut.onlyAgainst;
  if (unpaired > 0)
    out.push(`${counted(unpaired, 'question')} left out: asked under one of the two conditions only`);
  if (leftOut.ungraded > 0) {
    const atWorst =
      worstCase === undefined
        ? ''
        : `; at worst the difference is ${points(worstCase)}${verdict === 'cannot say' || worstCase * mean > 0 ? '' : ': enough to undo it'}`;
    out.push(`${counted(leftOut.ungraded, 'pair')} left out: one side could not be graded${atWorst}`);
  }
  return out;
}

const inWords = (p: number): string =>
  p >= 0.5 ? 'more often than not' : `once in ${Math.max(2, Math.round(1 / p))} times`;
