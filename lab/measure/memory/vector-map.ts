import type { EmbeddingModel } from '../../../src/core/recall.ts';

/** Entries of a set share their unrelated messages: each text is embedded once. */
export function withVectorMap(model: EmbeddingModel): EmbeddingModel {
  const known = new Map<string, Promise<Float32Array>>();
  const vectorOf = (text: string): Promise<Float32Array> => {
    const found =
      known.get(text) ?? model.embed([text]).then(([vector]) => vector ?? new Float32Array(model.dimensions));
    known.set(text, found);
    return found;
  };
  return { ...model, embed: (texts) => Promise.all(texts.map(vectorOf)) };
}
