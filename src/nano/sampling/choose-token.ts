import type { SampleRequest } from '../engine.ts';
import type { Random } from '../random.ts';

/** Temperature, top-k and top-p. */
export type Choice = Pick<SampleRequest, 'temperature' | 'topK' | 'topP'>;

const mostLikely = (shares: Float32Array): number => {
  let best = 0;
  for (let token = 1; token < shares.length; token++) {
    if ((shares[token] ?? 0) > (shares[best] ?? 0)) best = token;
  }
  return best;
};

/** Inverse transform sampling: the first token at which the cumulative shares exceed `part` of `total`; else the last one. */
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

/** Keeps the most likely tokens: at most topK, and no more than needed for topP of the total. Ties go to the lower id. */
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

/** Samples a token from the probabilities at temperature 1. Draws one number from `random` unless the temperature is 0. */
export const chooseToken = (shares: Float32Array, choice: Choice, random: Random): number => {
  if (choice.temperature === 0) return mostLikely(shares);
  const part = random();
  const isWhole = choice.topK < 0 && choice.topP >= 1;
  if (choice.temperature === 1 && isWhole) return pick(shares, sum(shares), part);
  const most = shares[mostLikely(shares)] ?? 1;
  const weights = Float64Array.from(shares, (share) => (share / most) ** (1 / choice.temperature));
  const kept = isWhole ? weights : narrow(weights, choice);
  return pick(kept, sum(kept), part);
};
