import type { LossKind } from '../../core/training.ts';

/** The probability ratio of each token in the test of losses, and the upper clip bound. */
export const RATIO = 2;
const CLIP_HIGH = 1.2;
/** Relative tolerance: the server computes the ratio in its own precision. */
const MAY_DIFFER = 0.03;

/** The loss of one token with advantage 1, given its log-probability. */
const TOKEN_LOSS: Readonly<Record<LossKind, (p: number) => number>> = {
  cross_entropy: (p) => -p,
  importance_sampling: () => -RATIO,
  ppo: () => -CLIP_HIGH,
  cispo: (p) => -CLIP_HIGH * p,
};

/** The loss in the metrics: the sum if there is one. */
export function lossIn(metrics: Readonly<Record<string, number>>): number | undefined {
  const names = Object.keys(metrics).filter((name) => /(^|_)loss(:|$)/.test(name));
  return metrics['loss:sum'] ?? (names[0] === undefined ? undefined : metrics[names[0]]);
}

export interface LossCheck {
  readonly loss: LossKind;
  readonly value: number;
  readonly reduction: 'sum' | 'mean-per-sequence';
  readonly logprobs: readonly (readonly number[])[];
  readonly weights: readonly (readonly number[])[];
}

/** Why a loss is wrong; undefined when it is the requested one. */
export function checkLoss({ loss, value, reduction, logprobs, weights }: LossCheck): string | undefined {
  const sums = (kind: LossKind): readonly number[] =>
    logprobs.map((row, i) =>
      row.reduce((sum, p, t) => sum + ((weights[i]?.[t] ?? 0) === 0 ? 0 : TOKEN_LOSS[kind](p)), 0),
    );
  const total = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0);
  const means = (kind: LossKind): number =>
    total(sums(kind).map((sum, i) => sum / Math.max(1, total(weights[i] ?? []))));
  const isNear = (wanted: number): boolean =>
    Math.abs(value - wanted) <= MAY_DIFFER * Math.abs(wanted) + 1e-4;

  const summed = total(sums(loss));
  // Servers with per-sequence means report the sum of token losses, the sum of the means, or their mean.
  const mean = means(loss);
  const allowed = reduction === 'sum' ? [summed] : [summed, mean, mean / logprobs.length];
  if (allowed.some(isNear)) return undefined;
  if (isNear(mean) || isNear(mean / logprobs.length))
    return `${loss} is averaged over each sequence, but the profile says it is summed`;
  const other = (Object.keys(TOKEN_LOSS) as LossKind[]).find(
    (kind) => kind !== loss && (isNear(total(sums(kind))) || isNear(means(kind))),
  );
  const suspicion = other === undefined ? '' : `, which is what ${other} gives`;
  return `${loss} should be ${summed.toPrecision(4)} and is ${value.toPrecision(4)}${suspicion}`;
}
