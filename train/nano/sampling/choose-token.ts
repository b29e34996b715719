import type { SampleRequest, Sequence } from '../engine.ts';
import { applyLinear } from '../model/forward.ts';
import type { LoadedModel } from '../model/loaded-model.ts';
import { FLOAT } from '../model/machine.ts';
import { createRandomStream, type RandomStream } from '../random-stream.ts';

/** Temperature, top-k and top-p. */
type SamplingFilter = Pick<SampleRequest, 'temperature' | 'topK' | 'topP'>;

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
const narrow = (weights: Float64Array, { topK, topP }: SamplingFilter): Float64Array => {
  const order = Array.from(weights.keys()).sort((a, b) => (weights[b] ?? 0) - (weights[a] ?? 0) || a - b);
  const enough = topP * sum(weights);
  const narrowed = new Float64Array(weights.length);
  let reached = 0;
  for (const token of topK < 0 ? order : order.slice(0, topK)) {
    narrowed[token] = weights[token] ?? 0;
    reached += weights[token] ?? 0;
    if (topP < 1 && reached >= enough) break;
  }
  return narrowed;
};

/** Samples a token from the probabilities at temperature 1. Draws one number from `random` unless the temperature is 0. */
const chooseToken = (shares: Float32Array, choice: SamplingFilter, random: RandomStream): number => {
  if (choice.temperature === 0) return mostLikely(shares);
  const part = random();
  const isWhole = choice.topK < 0 && choice.topP >= 1;
  if (choice.temperature === 1 && isWhole) return pick(shares, sum(shares), part);
  const most = shares[mostLikely(shares)] ?? 1;
  const weights = Float64Array.from(shares, (share) => (share / most) ** (1 / choice.temperature));
  const narrowed = isWhole ? weights : narrow(weights, choice);
  return pick(narrowed, sum(narrowed), part);
};

/** Sequences decoded at the same time; the rest of a request comes afterwards, which bounds memory. */
export const DECODE_BATCH = 16;

/** A sequence in progress; `index` is its place among those of the request. */
export interface GrowingSequence {
  readonly index: number;
  readonly tokens: number[];
  readonly logprobs: number[];
  stop: Sequence['stop'];
}

/**
 * Adds a token to each sequence, from the hidden states in the rows of `hidden`: one row each, or one row for all while they
 * are the same. Each sequence has its own random stream, so that it does not depend on its neighbours.
 */
type TokenChooser = (hidden: number, rows: number, growing: readonly GrowingSequence[]) => void;

/** Allocates from the machine's arena. */
export const createTokenChooser = (model: LoadedModel, request: SampleRequest): TokenChooser => {
  const { machine } = model;
  const { arena, kernels } = machine;
  const { vocabulary } = machine.shape;
  const logitsAt = arena.take(DECODE_BATCH * vocabulary * FLOAT);
  const sharesAt = arena.take(DECODE_BATCH * vocabulary * FLOAT);
  const measuresAt = arena.take(DECODE_BATCH * 2 * FLOAT);
  const factorsAt = arena.take(DECODE_BATCH * FLOAT);
  const randoms = Array.from({ length: request.count }, (_, index) =>
    createRandomStream(request.seed, index),
  );
  return (hidden, rows, growing) => {
    applyLinear(machine, model.unembedding, { x: hidden, y: logitsAt, rows });
    kernels.measure(logitsAt, measuresAt, rows, vocabulary);
    const logits = arena.floats(logitsAt, rows * vocabulary);
    const shares = arena.floats(sharesAt, rows * vocabulary);
    const measures = arena.floats(measuresAt, rows * 2);
    const factors = arena.floats(factorsAt, rows);
    for (let row = 0; row < rows; row++) factors[row] = 1 / (measures[2 * row + 1] ?? 1);
    kernels.exponentiate(logitsAt, measuresAt, factorsAt, sharesAt, rows, vocabulary);
    growing.forEach((sequence, index) => {
      const random = randoms[sequence.index];
      if (random === undefined) return;
      const row = rows === 1 ? 0 : index;
      const start = row * vocabulary;
      const token = chooseToken(shares.subarray(start, start + vocabulary), request, random);
      const whole = (measures[2 * row] ?? 0) + Math.log(measures[2 * row + 1] ?? 1);
      sequence.tokens.push(token);
      sequence.logprobs.push((logits[start + token] ?? 0) - whole);
      if (request.stop.includes(token)) sequence.stop = 'stop';
    });
  };
};
