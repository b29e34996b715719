import { loadMiniLm as loadEngine } from './minilm/load-mini-lm.ts';

/** One text at a time to its unit vector. Whatever else can compute MiniLM replaces this file and nothing around it. */
export interface MiniLmModel {
  embed(text: string): Promise<Float32Array>;
}

/** What a text is about stands in its beginning, and every token costs. */
const MOST_TOKENS = 128;

/** Rejects when the weights are missing or are not the ones we know. */
export async function loadMiniLm(): Promise<MiniLmModel> {
  const engine = await loadEngine(MOST_TOKENS);
  return {
    embed: async (text) => {
      const [vector] = engine.embed([text]);
      if (vector === undefined) throw new Error('the MiniLM engine gave no vector');
      return vector;
    },
  };
}
