import { type FloatTensor, readSafetensors, writeSafetensors } from '../../../../src/base/safetensors.ts';
import type { ModelShape } from '../../../../train/nano/model/decoder-weights.ts';
import { PROJECTIONS, projectionName, projectionSize } from '../../../../train/nano/model/decoder-weights.ts';
import { createRandomStream } from '../../../../train/nano/random-stream.ts';

/** Small enough for sums in plain JavaScript, with every part that the real one has. */
export const SMALL: ModelShape = {
  vocabulary: 40,
  width: 32,
  layers: 2,
  heads: 2,
  inner: 24,
  contextLength: 64,
  ropeBase: 10_000,
  normEps: 1e-5,
};

export const LORA = { rank: 3, alpha: 5, seed: 7, attention: true, mlp: true };
export const ADAM = {
  learningRate: 0.01,
  beta1: 0.9,
  beta2: 0.95,
  eps: 1e-8,
  weightDecay: 0,
  gradClipNorm: 0,
};

/** A safetensors file with the names of a Llama. */
export const smallWeights = (shape: ModelShape = SMALL, seed = 1): Uint8Array => {
  const random = createRandomStream(seed, 0);
  const tensors = new Map<string, FloatTensor>();
  const put = (name: string, size: readonly number[], middle: number, spread: number): void => {
    const count = size.reduce((product, side) => product * side);
    const values = Float32Array.from({ length: count }, () => middle + (2 * random() - 1) * spread);
    tensors.set(name, { shape: size, values });
  };
  put('model.embed_tokens.weight', [shape.vocabulary, shape.width], 0, 1);
  for (let layer = 0; layer < shape.layers; layer++) {
    put(`model.layers.${layer}.input_layernorm.weight`, [shape.width], 1, 0.3);
    put(`model.layers.${layer}.post_attention_layernorm.weight`, [shape.width], 1, 0.3);
    for (const projection of PROJECTIONS) {
      const { inputs, outputs } = projectionSize(shape, projection);
      put(`${projectionName(layer, projection)}.weight`, [outputs, inputs], 0, 0.4);
    }
  }
  put('model.norm.weight', [shape.width], 1, 0.3);
  return writeSafetensors(tensors, { format: 'pt' });
};

/** A saved adapter with every number moved, B's too, as training would. */
export const moved = (saved: Uint8Array, seed = 3): Uint8Array => {
  const { tensors, metadata } = readSafetensors(saved);
  const random = createRandomStream(seed, 1);
  const changed = [...tensors].map(([name, { shape, values }]): [string, FloatTensor] => [
    name,
    name.includes('lora')
      ? { shape, values: values.map((value) => value + (2 * random() - 1) * 0.2) }
      : { shape, values },
  ]);
  return writeSafetensors(new Map(changed), metadata);
};

/** Whole numbers below `limit`. */
export const randomTokens = (count: number, seed: number, limit = SMALL.vocabulary): Int32Array => {
  const random = createRandomStream(seed, 2);
  return Int32Array.from({ length: count }, () => Math.floor(random() * limit));
};

export const randomNumbers = (count: number, seed: number, low: number, high: number): Float32Array => {
  const random = createRandomStream(seed, 3);
  return Float32Array.from({ length: count }, () => low + (high - low) * random());
};

export const closeTo = (got: ArrayLike<number>, wanted: ArrayLike<number>): number => {
  if (got.length !== wanted.length) throw new Error(`${got.length} numbers, not ${wanted.length}`);
  return Array.from(got, (value, i) => Math.abs(value - (wanted[i] ?? 0))).reduce(
    (a, b) => Math.max(a, b),
    0,
  );
};
