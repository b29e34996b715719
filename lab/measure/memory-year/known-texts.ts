import type { EmbeddingModel } from '../../../src/core/recall.ts';

/** The same model, which reads each text once: every week, and every arm, has the same texts. */
export function withKnownTexts(model: EmbeddingModel): EmbeddingModel {
  const known = new Map<string, Float32Array>();
  return {
    ...model,
    embed: async (texts) => {
      const missing = [...new Set(texts.filter((text) => !known.has(text)))];
      const found = missing.length === 0 ? [] : await model.embed(missing);
      missing.forEach((text, at) => {
        const vector = found[at];
        if (vector !== undefined) known.set(text, vector);
      });
      return texts.flatMap((text) => known.get(text) ?? []);
    },
  };
}
