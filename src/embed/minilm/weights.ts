import { createHash } from 'node:crypto';
import { openSafetensors } from '../../base/safetensors.ts';
import type { Arena } from '../../base/wasm/arena.ts';
import { HIDDEN, INNER, LAYERS, MAX_TOKENS, type MiniLmKernels, WEIGHT_PANEL, WORDS } from './kernels.ts';

const FLOAT = 4;
const HALF = 2;
const LARGEST_WEIGHT = 127;
const LARGEST_INPUT = 32_767;
const LARGEST_SUM = 2 ** 31 - 1;

/** Addresses in the arena. Weights are bytes, packed in the order in which the linear kernel reads them. */
export interface MiniLmLinear {
  readonly inputs: number;
  readonly outputs: number;
  readonly weights: number;
  readonly scales: number;
  readonly bias: number;
  /** Inputs of at most this size cannot make a sum overflow 32 bits, whatever the weights. */
  readonly inputLimit: number;
}

interface MiniLmNorm {
  readonly gain: number;
  readonly bias: number;
}

export interface EncoderLayer {
  /** Query, key and value side by side. */
  readonly attention: MiniLmLinear;
  readonly attentionOut: MiniLmLinear;
  readonly attentionNorm: MiniLmNorm;
  readonly up: MiniLmLinear;
  readonly down: MiniLmLinear;
  readonly norm: MiniLmNorm;
}

export interface EncoderWeights {
  /** Position plus token type, one row of floats per position. */
  readonly positions: number;
  readonly embeddingNorm: MiniLmNorm;
  readonly layers: readonly EncoderLayer[];
}

export interface MiniLmWeights extends EncoderWeights {
  /** One row of half-precision numbers per word piece. */
  readonly words: number;
}

/** Writes that many numbers of a tensor, from the first on, as floats to an address of the arena. */
export type TensorFloats = (first: number, count: number, to: number) => void;

export interface EncoderLoader {
  readonly weights: EncoderWeights;
  /** Quantises and packs a tensor for the kernels. A name that the encoder does not have is ignored. */
  receive(name: string, floats: TensorFloats): void;
}

/** Takes room in the arena for an encoder of this shape, and its tensors as they come. Token types come after positions. */
export function createEncoderLoader(arena: Arena, kernels: MiniLmKernels, layerCount: number): EncoderLoader {
  const panelFloats = arena.take(WEIGHT_PANEL * INNER * FLOAT);
  const panelShorts = arena.take(WEIGHT_PANEL * INNER * HALF);
  const positions = arena.take(MAX_TOKENS * HIDDEN * FLOAT);
  const receivers = new Map<string, (floats: TensorFloats) => void>();

  /** Two inputs of the panel's first output, two of its second, ..., then the next two inputs. */
  const packPanel = (inputs: number, to: number): void => {
    const from = arena.shorts(panelShorts, WEIGHT_PANEL * inputs);
    const packed = arena.shorts(to, (WEIGHT_PANEL * inputs) / 2);
    for (let lane = 0, at = 0; lane < WEIGHT_PANEL; lane++) {
      for (let pair = lane; pair < packed.length; pair += WEIGHT_PANEL, at += 2) {
        packed[pair] = ((from[at] ?? 0) & 0xff) | ((from[at + 1] ?? 0) << 8);
      }
    }
  };
  const packRows = (made: MiniLmLinear, first: number, rows: number, floats: TensorFloats): void => {
    const { inputs, weights, scales } = made;
    for (let row = 0; row < rows; row += WEIGHT_PANEL) {
      floats(row * inputs, WEIGHT_PANEL * inputs, panelFloats);
      const scale = scales + (first + row) * FLOAT;
      kernels.quantize(panelFloats, panelShorts, scale, WEIGHT_PANEL, inputs, LARGEST_WEIGHT);
      packPanel(inputs, weights + (first + row) * inputs);
    }
  };
  const linear = (names: readonly string[], inputs: number, outputs: number): MiniLmLinear => {
    const made: MiniLmLinear = {
      inputs,
      outputs,
      weights: arena.take(inputs * outputs),
      scales: arena.take(outputs * FLOAT),
      bias: arena.take(outputs * FLOAT),
      inputLimit: Math.min(LARGEST_INPUT, Math.floor(LARGEST_SUM / (inputs * LARGEST_WEIGHT))),
    };
    const rows = outputs / names.length;
    names.forEach((name, index) => {
      receivers.set(`${name}.weight`, (floats) => packRows(made, index * rows, rows, floats));
      receivers.set(`${name}.bias`, (floats) => floats(0, rows, made.bias + index * rows * FLOAT));
    });
    return made;
  };
  const norm = (name: string): MiniLmNorm => {
    const made = { gain: arena.take(HIDDEN * FLOAT), bias: arena.take(HIDDEN * FLOAT) };
    receivers.set(`${name}.weight`, (floats) => floats(0, HIDDEN, made.gain));
    receivers.set(`${name}.bias`, (floats) => floats(0, HIDDEN, made.bias));
    return made;
  };
  const layer = (_: unknown, index: number): EncoderLayer => {
    const name = `encoder.layer.${index}`;
    const projections = ['query', 'key', 'value'].map((part) => `${name}.attention.self.${part}`);
    return {
      attention: linear(projections, HIDDEN, 3 * HIDDEN),
      attentionOut: linear([`${name}.attention.output.dense`], HIDDEN, HIDDEN),
      attentionNorm: norm(`${name}.attention.output.LayerNorm`),
      up: linear([`${name}.intermediate.dense`], HIDDEN, INNER),
      down: linear([`${name}.output.dense`], INNER, HIDDEN),
      norm: norm(`${name}.output.LayerNorm`),
    };
  };
  const layers = Array.from({ length: layerCount }, layer);
  const embeddingNorm = norm('embeddings.LayerNorm');
  receivers.set('embeddings.position_embeddings.weight', (floats) =>
    floats(0, MAX_TOKENS * HIDDEN, positions),
  );
  receivers.set('embeddings.token_type_embeddings.weight', (floats) => {
    floats(0, HIDDEN, panelFloats);
    const type = arena.floats(panelFloats, HIDDEN);
    const table = arena.floats(positions, MAX_TOKENS * HIDDEN);
    for (let i = 0; i < table.length; i++) table[i] = (table[i] ?? 0) + (type[i % HIDDEN] ?? 0);
  });
  return {
    weights: { positions, embeddingNorm, layers },
    receive: (name, floats) => receivers.get(name)?.(floats),
  };
}

/** Loads the model's file into the arena, quantised and packed for the kernels. */
export const loadMiniLmWeights = async (
  arena: Arena,
  kernels: MiniLmKernels,
  path: string,
  sha256: string,
): Promise<MiniLmWeights> => {
  const staged = arena.take(HIDDEN * INNER * HALF);
  const words = arena.take(WORDS * HIDDEN * HALF);
  const { weights, receive } = createEncoderLoader(arena, kernels, LAYERS);
  const roomFor = (name: string, bytes: number): Uint8Array =>
    arena.bytes(name === 'embeddings.word_embeddings.weight' ? words : staged, bytes);
  const halves: TensorFloats = (first, count, to) => kernels.expand(staged + first * HALF, to, count);
  for await (const name of streamTensors(path, sha256, roomFor)) receive(name, halves);
  return { words, ...weights };
};

/**
 * Reads a safetensors file from front to back: each tensor's bytes go to the buffer that `roomFor` returns, then its name is
 * yielded. Throws after the last tensor when the file does not have this SHA-256.
 */
export async function* streamTensors(
  path: string,
  sha256: string,
  roomFor: (name: string, bytes: number) => Uint8Array,
): AsyncGenerator<string> {
  const file = await openSafetensors(path);
  const hash = createHash('sha256').update(file.header);
  try {
    for (const { name, from, to } of file.entries) {
      const room = roomFor(name, to - from);
      await file.read(from, room);
      hash.update(room);
      yield name;
    }
  } finally {
    await file.close();
  }
  if (hash.digest('hex') !== sha256)
    throw new Error(`${path} is not the weights file of the tested model (SHA-256 differs)`);
}
