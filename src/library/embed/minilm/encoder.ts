import type { Arena } from '../../../wasm/arena.ts';
import type { Kernels } from './kernels.ts';
import { HEAD, HEADS, HIDDEN, INNER, MAX_TOKENS } from './shape.ts';
import type { Linear, Weights } from './weights.ts';

/** Token ids (at most MAX_TOKENS) to a unit vector of HIDDEN numbers. */
export type Encode = (tokens: readonly number[]) => Float32Array;

const FLOAT = 4;
const HALF = 2;
/** The attention kernel fills whole vectors of four. */
const SPARE = 4;

export const createEncoder = (arena: Arena, kernels: Kernels, weights: Weights): Encode => {
  const x = arena.take(MAX_TOKENS * HIDDEN * FLOAT);
  const mixed = arena.take(MAX_TOKENS * HIDDEN * FLOAT);
  const wide = arena.take(MAX_TOKENS * INNER * FLOAT);
  const rounded = arena.take(MAX_TOKENS * INNER * 2);
  const rowScales = arena.take(MAX_TOKENS * FLOAT);
  const scores = arena.take((MAX_TOKENS + SPARE) * FLOAT);

  const apply = (linear: Linear, from: number, to: number, rows: number): void => {
    const { inputs, outputs, inputLimit } = linear;
    kernels.quantize(from, rounded, rowScales, rows, inputs, inputLimit);
    kernels.linear(rounded, rowScales, linear.weights, linear.scales, linear.bias, to, rows, inputs, outputs);
  };

  const lookUp = (tokens: readonly number[]): void => {
    tokens.forEach((token, row) => {
      kernels.expand(weights.words + token * HIDDEN * HALF, x + row * HIDDEN * FLOAT, HIDDEN);
    });
  };

  const attend = (rows: number): void => {
    for (let head = 0; head < HEADS; head++) {
      const offset = head * HEAD * FLOAT;
      const query = wide + offset;
      const key = query + HIDDEN * FLOAT;
      const value = key + HIDDEN * FLOAT;
      kernels.attend(query, key, value, mixed + offset, scores, rows);
    }
  };

  const pool = (rows: number): Float32Array => {
    const states = arena.floats(x, rows * HIDDEN);
    const sum = new Float64Array(HIDDEN);
    for (let i = 0; i < states.length; i++) sum[i % HIDDEN] = (sum[i % HIDDEN] ?? 0) + (states[i] ?? 0);
    const length = Math.sqrt(sum.reduce((total, value) => total + value * value, 0));
    return Float32Array.from(sum, (value) => value / length);
  };

  return (tokens) => {
    const rows = tokens.length;
    lookUp(tokens);
    kernels.addNorm(x, weights.positions, weights.embeddingNorm.gain, weights.embeddingNorm.bias, rows);
    for (const layer of weights.layers) {
      apply(layer.attention, x, wide, rows);
      attend(rows);
      apply(layer.attentionOut, mixed, wide, rows);
      kernels.addNorm(x, wide, layer.attentionNorm.gain, layer.attentionNorm.bias, rows);
      apply(layer.up, x, wide, rows);
      kernels.gelu(wide, rows * INNER);
      apply(layer.down, wide, mixed, rows);
      kernels.addNorm(x, mixed, layer.norm.gain, layer.norm.bias, rows);
    }
    return pool(rows);
  };
};
