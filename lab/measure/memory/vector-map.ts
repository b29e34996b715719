import type { EmbeddingModel } from '../../../src/core/recall.ts';

/** Entries of a set share their unrelated messages: each text is embedded once. */
export function withVectorMap(model: EmbeddingModel): EmbeddingModel {
  const known = new Map<string, Promise<Float32Array>>();
  const vectorOf = (text: string, most: number | undefined): Promise<Float32Array> => {
    // Of a question fewer word pieces are read than of a lesson.
    const key = `${most ?? ''} ${text}`;
    const found =
      known.get(key) ??
      model.embed([text], most).then(([vector]) => {
        if (vector === undefined) throw new Error(`${model.id} returned no vector`);
        return vector;
      });
    known.set(key, found);
    return found;
  };
  return { ...model, embed: (texts, most) => Promise.all(texts.map((text) => vectorOf(text, most))) };
}
