import { hash } from 'node:crypto';
import type { ModelPrice } from '../../core/budget.ts';
import { MOST_BIAS, type Tier } from '../../core/overlay.ts';
import { signed } from '../../lessons/effect/describe-trial.ts';
import type { Interval } from '../../stats/interval.ts';
import type { RouteEvidence, TierEvidence } from './route-outcomes.ts';

/** The difference of expected quality that does not matter, in points of 1. */
const TOLERANCE = 0.02;
/** What saving all of the strong model's price is worth, in quality: without a budget, and what a day's budget that is used up adds. */
const SAVING_WEIGHT = 0.1;
const PRESSURE_WEIGHT = 0.15;
/** Of the lower bound: one-sided, 90 %. */
const DEVIATIONS = 1.28;
/** A tier with less evidence counts as not measured. */
const ENOUGH = 8;
/** How much worse the cheap model is taken to be where nothing was measured. */
const ASSUMED_LOSS = 0.15;
/** The share of sessions that get the other tier, so that it is measured: while the evidence leaves both possible, and afterwards. */
const EXPLORED = 0.15;
const EXPLORED_LATER = 0.02;

export interface TierQuestion {
  readonly session: string;
  readonly evidence: RouteEvidence;
  /** See `savingOf`. */
  readonly saving: number;
  /** The share of the day's budget that is used, 0 to 1. */
  readonly pressure: number;
  /** Of the overlays: towards `strong` above 0. */
  readonly bias: number;
  /** Whether the outcome will be known: else nothing is explored. */
  readonly mayExplore: boolean;
}

interface ChosenTier {
  readonly tier: Tier;
  readonly reason: string;
}

/**
 * Cheap when
 *
 *     low(q_cheap − q_strong) + saving · (0.10 + 0.15 · pressure) − bias ≥ −0.02
 *
 * `q`: the expected score of a session, by the scores of similar sessions with a Beta(1, 1) prior; `low`: the one-sided 90 % bound of
 * the difference, by the variances of both. Where a tier has evidence of fewer than 8 sessions, −0.15 stands for the bound. A share of the
 * sessions, drawn by the hash of the session, gets the other tier: 15 % while the evidence is open (a tier is not measured, or the upper
 * bound would choose cheap where the lower one does not), else 2 %.
 */
export function chooseTier(question: TierQuestion): ChosenTier {
  const { session, evidence, saving, mayExplore } = question;
  const bias = clamp(question.bias, -MOST_BIAS, MOST_BIAS);
  const weight = SAVING_WEIGHT + PRESSURE_WEIGHT * clamp(question.pressure, 0, 1);
  const isMeasured = evidence.cheap.weight >= ENOUGH && evidence.strong.weight >= ENOUGH;
  const bounds = difference(evidence);
  const loss = isMeasured ? bounds.low : -ASSUMED_LOSS;
  const gain = loss + saving * weight - bias;
  const better: Tier = gain >= -TOLERANCE ? 'cheap' : 'strong';
  const isOpen = !isMeasured || (better === 'strong' && bounds.high + saving * weight - bias >= -TOLERANCE);
  const isExplored = mayExplore && shareOf(session) < (isOpen ? EXPLORED : EXPLORED_LATER);
  const tier = isExplored ? other(better) : better;
  const quality = isMeasured
    ? `cheap ${describe(evidence.cheap)}, strong ${describe(evidence.strong)}, bound ${signed(loss)}`
    : `not measured (cheap ${evidence.cheap.weight.toFixed(1)}, strong ${evidence.strong.weight.toFixed(1)} of ${ENOUGH} sessions), ${signed(loss)} assumed`;
  const terms = `${quality}; saving ${saving.toFixed(2)} × ${weight.toFixed(2)}, bias ${signed(bias)}; sum ${signed(gain)} against ${signed(-TOLERANCE)}`;
  return { tier, reason: isExplored ? `explored: ${terms}` : terms };
}

/** The part of the strong model's price that the cheap one saves; one half where a price is unknown or nothing costs anything. */
export function savingOf(cheap: ModelPrice, strong: ModelPrice): number {
  const [less, more] = [blendedPrice(cheap), blendedPrice(strong)];
  if (less === undefined || more === undefined || more === 0) return UNKNOWN_SAVING;
  return clamp(1 - less / more, 0, 1);
}

const UNKNOWN_SAVING = 0.5;
/** An agent's turn reads about nine tokens for each that it writes. */
const INPUT_SHARE = 0.9;

function blendedPrice(price: ModelPrice): number | undefined {
  if (price.from === 'unknown') return undefined;
  return INPUT_SHARE * price.price.input + (1 - INPUT_SHARE) * price.price.output;
}

function difference({ cheap, strong }: RouteEvidence): Interval {
  const [a, b] = [posterior(cheap), posterior(strong)];
  const reach = DEVIATIONS * Math.sqrt(a.variance + b.variance);
  return { low: a.mean - b.mean - reach, high: a.mean - b.mean + reach };
}

function posterior({ weight, success }: TierEvidence): { readonly mean: number; readonly variance: number } {
  const size = weight + 2;
  const mean = (success + 1) / size;
  return { mean, variance: (mean * (1 - mean)) / (size + 1) };
}

/** At least 0, less than 1. */
const shareOf = (session: string): number =>
  hash('sha256', JSON.stringify(['route', session]), 'buffer').readUIntBE(0, 6) / 2 ** 48;

const other = (tier: Tier): Tier => (tier === 'cheap' ? 'strong' : 'cheap');
const clamp = (value: number, least: number, most: number): number => Math.max(least, Math.min(most, value));
const describe = (evidence: TierEvidence): string =>
  `${posterior(evidence).mean.toFixed(2)} (${evidence.weight.toFixed(1)})`;
