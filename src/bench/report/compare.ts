import type { Interval } from '../../stats/interval.ts';
import { type Pair, pairedBootstrap } from '../../stats/paired-bootstrap.ts';
import { blocksNeeded, smallestEffect } from '../../stats/smallest-effect.ts';
import type { Condition, Row } from '../row.ts';
import { gradeOf, isAbout, type Measure } from './measure.ts';
import { blockKey, questionKey } from './order-rows.ts';

/** Two conditions on the questions that both were asked. `better` and `worse` only where the numbers bear it out. */
export interface Difference {
  readonly measure: Measure;
  readonly of: Condition;
  readonly against: Condition;
  readonly verdict: 'better' | 'worse' | 'cannot say';
  /** `of` minus `against`; undefined when there is no pair. */
  readonly mean?: number;
  readonly interval?: Interval;
  /** How often chance alone, flipping the signs of days, does as much. */
  readonly p?: number;
  readonly pairs: number;
  /** Days of runs. */
  readonly blocks: number;
  /** Pairs on which `of` scored higher, lower, the same. */
  readonly gained: number;
  readonly lost: number;
  readonly tied: number;
  /** Questions that one of the two has not, and pairs of which one could not be graded. */
  readonly leftOut: { readonly onlyOf: number; readonly onlyAgainst: number; readonly ungraded: number };
  /** The difference if each ungraded side of a pair were scored against the claim: 0 for the leader, 1 for the other. */
  readonly worstCase?: number;
  readonly seeds: readonly { readonly seed: number; readonly mean: number }[];
  /** The smallest true difference that this run shows 4 times in 5. */
  readonly smallest?: number;
  /** What it takes to show a difference of `effect` 4 times in 5. */
  readonly needed?: { readonly effect: number; readonly pairs: number; readonly seeds: number };
}

/** Differences below are not worth a run: what it would take is told for this one. */
const SMALLEST_OF_INTEREST = 0.01;

/** Both in order. */
export function compare(
  measure: Measure,
  of: readonly Row[],
  against: readonly Row[],
  names: readonly [Condition, Condition],
): Difference {
  const matched = match(measure, of, against);
  const pairs = matched.pairs;
  const [name, other] = names;
  const found = pairedBootstrap(pairs, { seed: `${measure}/${name}/${other}` });
  const { mean, interval, p, n, blocks } = found;
  const verdict = !found.isShown || mean === undefined ? 'cannot say' : mean > 0 ? 'better' : 'worse';
  const smallest = smallestEffect(found);
  const needed = mean === undefined ? undefined : whatItTakes(found, mean, pairs);
  const worst = worstCase(matched, mean);
  return {
    measure,
    of: name,
    against: other,
    verdict,
    ...(mean === undefined ? {} : { mean }),
    ...(interval === undefined ? {} : { interval }),
    ...(p === undefined ? {} : { p }),
    pairs: n,
    blocks,
    gained: pairs.filter(({ a, b }) => a > b).length,
    lost: pairs.filter(({ a, b }) => a < b).length,
    tied: pairs.filter(({ a, b }) => a === b).length,
    leftOut: matched.leftOut,
    ...(worst === undefined ? {} : { worstCase: worst }),
    seeds: bySeed(pairs),
    ...(smallest === undefined ? {} : { smallest }),
    ...(needed === undefined ? {} : { needed }),
  };
}

type SeedPair = Pair & { readonly seed: number };

interface Matched {
  readonly pairs: readonly SeedPair[];
  /** Pairs of which at least one side is missing its grade. */
  readonly halves: readonly { readonly a?: number; readonly b?: number }[];
  readonly leftOut: Difference['leftOut'];
}

function match(measure: Measure, of: readonly Row[], against: readonly Row[]): Matched {
  const others = new Map(
    against.filter((row) => isAbout(measure, row)).map((row) => [questionKey(row), row]),
  );
  const asked = others.size;
  const pairs: SeedPair[] = [];
  const halves: { a?: number; b?: number }[] = [];
  let both = 0;
  let onlyOf = 0;
  for (const row of of) {
    if (!isAbout(measure, row)) continue;
    const other = others.get(questionKey(row));
    if (other === undefined) {
      onlyOf++;
      continue;
    }
    both++;
    const a = gradeOf(measure, row);
    const b = gradeOf(measure, other);
    if (a !== undefined && b !== undefined) pairs.push({ seed: row.seed, block: blockKey(row), a, b });
    else halves.push({ ...(a === undefined ? {} : { a }), ...(b === undefined ? {} : { b }) });
  }
  return { pairs, halves, leftOut: { onlyOf, onlyAgainst: asked - both, ungraded: halves.length } };
}

function worstCase({ pairs, halves }: Matched, mean: number | undefined): number | undefined {
  if (mean === undefined || halves.length === 0) return undefined;
  const [leader, other] = mean >= 0 ? [0, 1] : [1, 0];
  const graded = pairs.reduce((all, { a, b }) => all + (a - b), 0);
  const ungraded = halves.reduce((all, { a = leader, b = other }) => all + (a - b), 0);
  return (graded + ungraded) / (pairs.length + halves.length);
}

function bySeed(pairs: readonly SeedPair[]): Difference['seeds'] {
  const sums = new Map<number, { sum: number; n: number }>();
  for (const { seed, a, b } of pairs) {
    const held = sums.get(seed) ?? { sum: 0, n: 0 };
    sums.set(seed, { sum: held.sum + (a - b), n: held.n + 1 });
  }
  return [...sums].map(([seed, { sum, n }]) => ({ seed, mean: sum / n }));
}

function whatItTakes(
  found: { readonly blocks: number; readonly standardError?: number },
  mean: number,
  pairs: readonly SeedPair[],
): Difference['needed'] {
  const effect = Math.abs(mean) >= SMALLEST_OF_INTEREST ? mean : Math.sign(mean || 1) * SMALLEST_OF_INTEREST;
  const blocks = blocksNeeded(found, effect);
  if (blocks === undefined) return undefined;
  const perBlock = pairs.length / found.blocks;
  const blocksPerSeed = found.blocks / new Set(pairs.map(({ seed }) => seed)).size;
  return { effect, pairs: Math.ceil(blocks * perBlock), seeds: Math.ceil(blocks / blocksPerSeed) };
}
