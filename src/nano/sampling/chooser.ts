import type { SampleRequest, Sequence } from '../engine.ts';
import { applyLinear } from '../model/forward.ts';
import { FLOAT, type Machine } from '../model/machine.ts';
import type { Model } from '../model/model.ts';
import { createRandom } from '../random.ts';
import { chooseToken } from './choose-token.ts';

/** Sequences decoded at the same time; the rest of a request comes afterwards, which bounds memory. */
export const SIDE_BY_SIDE = 16;

/** A sequence in progress; `index` is its place among those of the request. */
export interface Growing {
  readonly index: number;
  readonly tokens: number[];
  readonly logprobs: number[];
  stop: Sequence['stop'];
}

/**
 * Adds a token to each sequence, from the hidden states in the rows of `hidden`: one row each, or one row for all while they
 * are the same. Each sequence has its own random stream, so that it does not depend on its neighbours.
 */
export type Choose = (hidden: number, rows: number, growing: readonly Growing[]) => void;

/** Allocates from the machine's arena. */
export const createChooser = (machine: Machine, model: Model, request: SampleRequest): Choose => {
  const { arena, kernels } = machine;
  const { vocabulary } = machine.shape;
  const logitsAt = arena.take(SIDE_BY_SIDE * vocabulary * FLOAT);
  const sharesAt = arena.take(SIDE_BY_SIDE * vocabulary * FLOAT);
  const measuresAt = arena.take(SIDE_BY_SIDE * 2 * FLOAT);
  const factorsAt = arena.take(SIDE_BY_SIDE * FLOAT);
  const randoms = Array.from({ length: request.count }, (_, index) => createRandom(request.seed, index));
  return (hidden, rows, growing) => {
    applyLinear(machine, model.unembedding, hidden, logitsAt, rows);
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
