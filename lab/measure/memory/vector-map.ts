import type { EmbeddingModel } from '../../../src/core/recall.ts';

/** The same model, which reads each text once: entries of a set, weeks and arms share theirs. */
export function withVectorMap(model: EmbeddingModel): EmbeddingModel {
  const known = new Map<string, Promise<Float32Array>>();
  return {
    ...model,
    embed: async (texts, most) => {
      // Of a question fewer word pieces are read than of a lesson.
      const keyOf = (text: string): string => `${most ?? ''} ${text}`;
      const missing = [...new Set(texts)].filter((text) => !known.has(keyOf(text)));
      const vectors = missing.length === 0 ? Promise.resolve([]) : model.embed(missing, most);
      for (const [at, text] of missing.entries())
        known.set(
          keyOf(text),
          vectors.then((made) => {
            const vector = made[at];
            if (vector === undefined) throw new Error(`${model.id} returned no vector`);
            return vector;
          }),
        );
      return Promise.all(texts.flatMap((text) => known.get(keyOf(text)) ?? []));
    },
  };
}
