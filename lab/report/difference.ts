import type { Interval } from '../../src/stats/interval.ts';
import { MIN_BLOCKS } from './block-bootstrap.ts';
import { changeText, count, counted, definedFields, type MeasureWords, unitText } from './numbers.ts';
import { type PairedMeasurement, pairedBootstrap } from './paired-bootstrap.ts';
import { blocksNeeded, minimumDetectableEffect, type Precision } from './power.ts';

/** `better` and `worse` only where both the interval and the sign-flip test exclude "no difference". */
type DifferenceVerdict = 'better' | 'worse' | 'cannot say';

/** One measure under two conditions, over the pairs that both have. */
export interface Difference<M extends string = string> {
  readonly measure: M;
  readonly verdict: DifferenceVerdict;
  /** Treatment minus control; undefined when there is no pair. */
  readonly mean?: number;
  readonly interval?: Interval;
  /** How often random signs of the blocks give a difference at least this large. */
  readonly p?: number;
  readonly pairs: number;
  /** Units of resampling: days of runs, or runs. */
  readonly blocks: number;
  /** Pairs in which the treatment did better, worse, the same. */
  readonly gained: number;
  readonly lost: number;
  readonly tied: number;
  readonly seeds: readonly { readonly seed: number; readonly mean: number }[];
  /** The smallest true difference that this sample detects with a power of 80 %. */
  readonly smallest?: number;
  /** The sample that detects a difference of `effect` with a power of 80 %. */
  readonly needed?: { readonly effect: number; readonly pairs: number; readonly seeds: number };
}

/** `a` is the treatment's value, `b` the control's. */
export interface SeedPair extends PairedMeasurement {
  readonly seed: number;
}

interface CompareOptions {
  /** Of the resampling. */
  readonly seed: string;
  /** The largest value that the measure can have; 1 unless given. */
  readonly highest?: number;
}

/** Smaller differences are not worth another run: `needed` is never computed for less. */
const SMALLEST_OF_INTEREST = 0.01;

export function comparePairs<M extends string>(
  { measure, better }: MeasureWords<M>,
  pairs: readonly SeedPair[],
  { seed, highest = 1 }: CompareOptions,
): Difference<M> {
  // The statistics expect values from 0 to 1.
  const scaled = pairs.map(({ block, a, b }) => ({ block, a: a / highest, b: b / highest }));
  const found = pairedBootstrap(scaled, { seed });
  const mean = found.mean === undefined ? undefined : found.mean * highest;
  const interval = found.interval && {
    low: found.interval.low * highest,
    high: found.interval.high * highest,
  };
  const precision: Precision = {
    blocks: found.blocks,
    ...(found.standardError === undefined ? {} : { standardError: found.standardError * highest }),
  };
  const gain = (change: number): number => (better === 'more' ? change : -change);
  const gains = pairs.map(({ a, b }) => gain(a - b));
  return {
    measure,
    verdict: !found.isShown || mean === undefined ? 'cannot say' : gain(mean) > 0 ? 'better' : 'worse',
    ...definedFields({
      mean,
      interval,
      p: found.p,
      smallest: minimumDetectableEffect(precision),
      needed: mean === undefined ? undefined : neededSample(precision, mean, pairs),
    }),
    pairs: pairs.length,
    blocks: found.blocks,
    gained: gains.filter((one) => one > 0).length,
    lost: gains.filter((one) => one < 0).length,
    tied: gains.filter((one) => one === 0).length,
    seeds: meansBySeed(pairs),
  };
}

function meansBySeed(pairs: readonly SeedPair[]): Difference['seeds'] {
  const sums = new Map<number, { sum: number; n: number }>();
  for (const { seed, a, b } of pairs) {
    const { sum, n } = sums.get(seed) ?? { sum: 0, n: 0 };
    sums.set(seed, { sum: sum + (a - b), n: n + 1 });
  }
  return [...sums].map(([seed, { sum, n }]) => ({ seed, mean: sum / n }));
}

function neededSample(precision: Precision, mean: number, pairs: readonly SeedPair[]): Difference['needed'] {
  const effect = Math.abs(mean) >= SMALLEST_OF_INTEREST ? mean : Math.sign(mean || 1) * SMALLEST_OF_INTEREST;
  const blocks = blocksNeeded(precision, effect);
  if (blocks === undefined) return undefined;
  const blocksPerSeed = precision.blocks / new Set(pairs.map(({ seed }) => seed)).size;
  return {
    effect,
    pairs: Math.ceil(blocks * (pairs.length / precision.blocks)),
    seeds: Math.ceil(blocks / blocksPerSeed),
  };
}

/** What a difference means, in sentences that can be quoted. */
export interface Explanation {
  /** The verdict with its number. */
  readonly claim: string;
  /** Why nothing is claimed, and what would be needed; empty where something is claimed. */
  readonly because: readonly string[];
  /** Limits of the claim. */
  readonly caveats: readonly string[];
}

interface ComparisonWords {
  readonly words: MeasureWords;
  readonly of: string;
  readonly against: string;
  /** The unit of resampling, singular and plural. */
  readonly block: readonly [one: string, many: string];
  /** What is missing from the pairs, a sentence each. */
  readonly leftOut: readonly string[];
}

/** With fewer seeds a claim is about these runs and hardly about the next one. */
export const FEWEST_SEEDS = 3;

export function explainPairs(difference: Difference, comparison: ComparisonWords): Explanation {
  const { verdict, mean, pairs, blocks } = difference;
  const { words, of, against, block } = comparison;
  const caveats = [...seedCaveats(difference, words), ...comparison.leftOut];
  if (mean === undefined) {
    const claim = `cannot say anything about ${words.title}: ${of} and ${against} have no graded pair in common`;
    return { claim, because: [], caveats };
  }
  const sample =
    pairs === blocks ? counted(pairs, ...block) : `${counted(pairs, 'pair')}, ${counted(blocks, ...block)}`;
  const size = `${changeText(words, mean)}${unitText(words)} (95 %: ${changeRangeText(words, difference.interval)}; ${sample})`;
  if (verdict === 'cannot say') {
    const claim = `cannot say whether ${of} differs from ${against} in ${words.title}: ${size}`;
    return { claim, because: reasons(difference, comparison), caveats };
  }
  return { claim: `${of} is ${verdict} than ${against} in ${words.title}: ${size}`, because: [], caveats };
}

/** `+0.020 to +0.061` */
export const changeRangeText = (words: MeasureWords, interval: Interval | undefined): string =>
  interval === undefined
    ? 'no interval'
    : `${changeText(words, interval.low)} to ${changeText(words, interval.high)}`;

function reasons(difference: Difference, { words, block }: ComparisonWords): readonly string[] {
  const { interval, p = 1, pairs, blocks, tied, seeds, smallest, needed } = difference;
  const [one, many] = block;
  if (interval === undefined)
    return [
      `${counted(blocks, one, many)} ${blocks === 1 ? 'is' : 'are'} too few to tell a difference from chance; at least ${MIN_BLOCKS} are needed`,
    ];
  if (pairs === tied) return ['no pair differs'];
  const out: string[] = [];
  if (interval.low > 0 || interval.high < 0)
    out.push(
      `the interval excludes 0, but so few ${many} differ that chance alone gives this ${howOften(p)}`,
    );
  if (smallest === undefined) {
    out.push(`all ${many} differ by the same amount, so their spread is unknown`);
    return out;
  }
  out.push(
    `this sample detects a true difference of ${changeText(words, smallest).replace('+', '')}${unitText(words)} 4 times in 5, smaller ones less often`,
  );
  if (needed !== undefined && needed.pairs > pairs)
    out.push(
      `to show ${changeText(words, needed.effect)}${unitText(words)} takes about ${counted(needed.seeds, 'seed')} instead of ${count(seeds.length)} (${counted(needed.pairs - pairs, 'more pair', 'more pairs')})`,
    );
  return out;
}

function seedCaveats({ mean = 0, seeds }: Difference, words: MeasureWords): readonly string[] {
  const out: string[] = [];
  if (seeds.length > 0 && seeds.length < FEWEST_SEEDS)
    out.push(
      `${seeds.length === 1 ? 'one seed only' : counted(seeds.length, 'seed')}: fewer than ${FEWEST_SEEDS} say little about the next run`,
    );
  const opposed = seeds.filter((seed) => seed.mean * mean < 0);
  if (opposed.length > 0)
    out.push(
      `${counted(opposed.length, 'seed')} of ${seeds.length} went the other way (${opposed.map(({ seed, mean: by }) => `seed ${seed}: ${changeText(words, by)}`).join(', ')})`,
    );
  return out;
}

const howOften = (p: number): string =>
  p >= 0.5 ? 'more often than not' : `once in ${Math.max(2, Math.round(1 / p))} times`;
