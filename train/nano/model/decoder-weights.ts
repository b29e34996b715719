import { createHash } from 'node:crypto';
import { DecodeError } from '../../../src/base/decode-error.ts';
import { readSafetensors, type Safetensors } from '../../../src/base/safetensors.ts';
import { EngineError } from '../engine.ts';

/** The dimensions of a small Llama-style decoder: RMS norm, rotary positions, gated MLP, tied embeddings. */
export interface ModelShape {
  readonly vocabulary: number;
  readonly width: number;
  readonly layers: number;
  readonly heads: number;
  /** The width of the MLP's inner layer. */
  readonly inner: number;
  readonly contextLength: number;
  readonly ropeBase: number;
  readonly normEps: number;
}

/** The model that ships: 2.9 million parameters with a vocabulary of 1,024. */
export const NANO_SHAPE: ModelShape = {
  vocabulary: 1024,
  width: 160,
  layers: 8,
  heads: 5,
  inner: 512,
  contextLength: 1024,
  ropeBase: 10_000,
  normEps: 1e-5,
};

/** The seven matrices of a layer, as Hugging Face names them. */
export const PROJECTIONS = ['q', 'k', 'v', 'o', 'gate', 'up', 'down'] as const;
export type Projection = (typeof PROJECTIONS)[number];

export const isOfAttention = (projection: Projection): boolean => ['q', 'k', 'v', 'o'].includes(projection);

export const projectionName = (layer: number, projection: Projection): string =>
  `model.layers.${layer}.${isOfAttention(projection) ? 'self_attn' : 'mlp'}.${projection}_proj`;

export const projectionSize = (
  shape: ModelShape,
  projection: Projection,
): { readonly inputs: number; readonly outputs: number } => {
  if (isOfAttention(projection)) return { inputs: shape.width, outputs: shape.width };
  if (projection === 'down') return { inputs: shape.inner, outputs: shape.width };
  return { inputs: shape.width, outputs: shape.inner };
};

/** A model's weights in row-major order: a matrix is [outputs][inputs]. */
export interface DecoderWeights {
  readonly shape: ModelShape;
  readonly embedding: Float32Array;
  readonly layers: readonly DecoderLayerWeights[];
  readonly norm: Float32Array;
  /** SHA-256 of all weights. An adapter fits only the weights it was trained on. */
  readonly hash: string;
}

interface DecoderLayerWeights {
  readonly attentionNorm: Float32Array;
  readonly mlpNorm: Float32Array;
  readonly matrices: Readonly<Record<Projection, Float32Array>>;
}

/** A safetensors file in memory. Throws an EngineError that names what is wrong with it. */
export const readEngineTensors = (bytes: Uint8Array): Safetensors => {
  try {
    return readSafetensors(bytes);
  } catch (error) {
    throw error instanceof DecodeError ? new EngineError(error.message, { cause: error }) : error;
  }
};

/** The kernels process eight columns at a time, and rotary positions in vectors of four pairs. */
const GRAIN = 8;

const checkShape = (shape: ModelShape): void => {
  const head = shape.width / shape.heads;
  const sides = {
    vocabulary: shape.vocabulary,
    width: shape.width,
    inner: shape.inner,
    'width / heads': head,
  };
  for (const [name, side] of Object.entries(sides)) {
    if (!Number.isSafeInteger(side) || side <= 0 || side % GRAIN !== 0) {
      throw new EngineError(`${name} is ${side}; it must be a multiple of ${GRAIN}`);
    }
  }
  for (const name of ['layers', 'contextLength'] as const) {
    if (!Number.isSafeInteger(shape[name]) || shape[name] <= 0) {
      throw new EngineError(`${name} is ${shape[name]}; it must be a positive integer`);
    }
  }
};

/** Reads the safetensors of a Llama. Throws an EngineError that names a missing, unexpected or wrongly shaped tensor. */
export const loadDecoderWeights = (bytes: Uint8Array, shape: ModelShape): DecoderWeights => {
  checkShape(shape);
  const { tensors } = readEngineTensors(bytes);
  const known = new Set<string>();
  const hash = createHash('sha256');
  const take = (name: string, ...sides: readonly number[]): Float32Array => {
    const tensor = tensors.get(name);
    if (tensor === undefined) throw new EngineError(`the weights have no ${name}`);
    if (tensor.shape.length !== sides.length || sides.some((side, i) => side !== tensor.shape[i])) {
      throw new EngineError(`${name} has shape [${tensor.shape}]; the model's shape requires [${sides}]`);
    }
    if (!tensor.values.every(Number.isFinite))
      throw new EngineError(`${name} holds a number that is not finite`);
    known.add(name);
    hash.update(tensor.values);
    return tensor.values;
  };
  const matrix = (layer: number, projection: Projection): Float32Array => {
    const { inputs, outputs } = projectionSize(shape, projection);
    return take(`${projectionName(layer, projection)}.weight`, outputs, inputs);
  };
  const embedding = take('model.embed_tokens.weight', shape.vocabulary, shape.width);
  const layers = Array.from({ length: shape.layers }, (_, layer) => ({
    attentionNorm: take(`model.layers.${layer}.input_layernorm.weight`, shape.width),
    mlpNorm: take(`model.layers.${layer}.post_attention_layernorm.weight`, shape.width),
    matrices: Object.fromEntries(
      PROJECTIONS.map((projection) => [projection, matrix(layer, projection)]),
    ) as Record<Projection, Float32Array>,
  }));
  const norm = take('model.norm.weight', shape.width);
  const extra = [...tensors.keys()].filter((name) => !known.has(name) && name !== 'lm_head.weight');
  if (extra.length > 0)
    throw new EngineError(`the weights hold tensors that the model does not have: ${extra.join(', ')}`);
  return { shape, embedding, layers, norm, hash: hash.digest('hex') };
};
