import type { SampleRequest } from '../engine.ts';
import type { Random } from '../random.ts';

/** How a request narrows the distribution. */
export type Choice = Pick<SampleRequest, 'temperature' | 'topK' | 'topP'>;

const likeliest = (shares: Float32Array): number => {
  let best = 0;
  for (let token = 1; token < shares.length; token++) {
    if ((shares[token] ?? 0) > (shares[best] ?? 0)) best = token;
  }
  return best;
};

/** The first token at which the shares, added up, pass `part` of `total`; the last one with a share if rounding left none. */
const pick = (shares: Float32Array | Float64Array, total: number, part: number): number => {
  let left = part * total;
  let last = 0;
  for (let token = 0; token < shares.length; token++) {
    const share = shares[token] ?? 0;
    if (share === 0) continue;
    last = token;
    left -= share;
    if (left < 0) break;
  }
  return last;
};

const sum = (values: Float32Array | Float64Array): number => {
  let total = 0;
  for (const value of values) total += value;
  return total;
};

/** Keeps the likeliest tokens: at most topK, and no more than are needed for topP of the whole. Equal ones: the lower id. */
const narrow = (weights: Float64Array, { topK, topP }: Choice): Float64Array => {
  const order = Array.from(weights.keys()).sort((a, b) => (weights[b] ?? 0) - (weights[a] ?? 0) || a - b);
  const enough = topP * sum(weights);
  const kept = new Float64Array(weights.length);
  let reached = 0;
  for (const token of topK < 0 ? order : order.slice(0, topK)) {
    kept[token] = weights[token] ?? 0;
    reached += weights[token] ?? 0;
    if (topP < 1 && reached >= enough) break;
  }
  return kept;
};

/** A token from the shares that the model gives at temperature 1. Draws one number from `random` unless the temperature is 0. */
export const chooseToken = (shares: Float32Array, choice: Choice, random: Random): number => {
  if (choice.temperature === 0) return likeliest(shares);
  const part = random();
  const isWhole = choice.topK < 0 && choice.topP >= 1;
  if (choice.temperature === 1 && isWhole) return pick(shares, sum(shares), part);
  const most = shares[likeliest(shares)] ?? 1;
  const weights = Float64Array.from(shares, (share) => (share / most) ** (1 / choice.temperature));
  const kept = isWhole ? weights : narrow(weights, choice);
  return pick(kept, sum(kept), part);
};
