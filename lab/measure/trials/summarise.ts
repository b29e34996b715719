import { type Interval, wilsonInterval } from '../../../src/stats/interval.ts';
import { quantile } from '../markdown.ts';
import type { KnownLesson } from './known-effects.ts';
import type { TrialResult } from './run-library.ts';

/** Candidates of one kind over all libraries. */
export interface KindSummary {
  readonly kind: string;
  readonly candidates: number;
  readonly live: number;
  readonly retired: number;
  /** Pairs until the verdict, or until the test was given up: the median and the ninth decile. */
  readonly pairs: readonly [median: number, most: number];
  readonly tokens: number;
  /** The median number of pairs of those that were promoted. */
  readonly toVerdict: number;
}

/** A lesson that should not have been promoted: on average over the tasks that it is shown for, it does not help. */
export const isFalse = ({ effect }: KnownLesson): boolean => effect <= 0;

export function summariseKinds(results: readonly TrialResult[]): readonly KindSummary[] {
  const kinds = [...new Set(results.map(({ candidate }) => candidate.kind))];
  return kinds.map((kind) => {
    const of = results.filter(({ candidate }) => candidate.kind === kind);
    const pairs = of.map((one) => one.pairs);
    return {
      kind,
      candidates: of.length,
      live: of.filter(({ state }) => state === 'live').length,
      retired: of.filter(({ state }) => state === 'retired').length,
      pairs: [quantile(pairs, 0.5), quantile(pairs, 0.9)],
      tokens: of.reduce((sum, { tokens }) => sum + tokens, 0) / of.length,
      toVerdict: quantile(
        of.filter(({ state }) => state === 'live').map((one) => one.pairs),
        0.5,
      ),
    };
  });
}

export interface ErrorSummary {
  readonly libraries: number;
  readonly promoted: number;
  readonly falsely: number;
  /** The mean over libraries of the share of false ones among its promotions, with its largest standard error. */
  readonly discoveryRate: number;
  readonly discoveryError: number;
  /** Libraries with at least one false promotion. */
  readonly withFalse: number;
}

export function summariseErrors(libraries: readonly (readonly TrialResult[])[]): ErrorSummary {
  const counted = libraries.map((results) => {
    const live = results.filter(({ state }) => state === 'live');
    return { live: live.length, falsely: live.filter(({ candidate }) => isFalse(candidate)).length };
  });
  const rates = counted.map(({ live, falsely }) => falsely / Math.max(1, live));
  const mean = rates.reduce((sum, rate) => sum + rate, 0) / rates.length;
  const spread = rates.reduce((sum, rate) => sum + (rate - mean) ** 2, 0) / Math.max(1, rates.length - 1);
  return {
    libraries: libraries.length,
    promoted: counted.reduce((sum, { live }) => sum + live, 0),
    falsely: counted.reduce((sum, { falsely }) => sum + falsely, 0),
    discoveryRate: mean,
    discoveryError: Math.sqrt(spread / rates.length),
    withFalse: counted.filter(({ falsely }) => falsely > 0).length,
  };
}

/** `2.4 % [1.8, 3.1]`. */
export function shareWithInterval(count: number, of: number): string {
  const { low, high }: Interval = wilsonInterval(count, of);
  const percent = (value: number): string => (100 * value).toFixed(1);
  return `${percent(count / Math.max(1, of))} % [${percent(low)}, ${percent(high)}]`;
}
