import type { EmbeddingModel } from '../../core/recall.ts';
import { vectorKey } from './embedding-queue.ts';
import type { VectorCache } from './vector-cache.ts';

/** Texts between two looks at the cache, so that a large library is not read into memory at once. */
const BATCH = 64;

/**
 * The model's vectors of texts that stay, such as whole lessons: each is computed once and kept between two starts. A library of
 * thousands of lessons would otherwise occupy a core for a minute at the first comparison after every start.
 */
export function createKeptEmbedding(
  model: Pick<EmbeddingModel, 'embed'>,
  cache: Pick<VectorCache, 'get' | 'put'> | undefined,
): EmbeddingModel['embed'] {
  if (cache === undefined) return (texts) => model.embed(texts);
  const batchOf = async (texts: readonly string[]): Promise<readonly Float32Array[]> => {
    const keys = texts.map(vectorKey);
    const kept = await Promise.all(keys.map((key) => cache.get(key)));
    const missing = texts.filter((_, at) => kept[at] === undefined);
    const computed = missing.length === 0 ? [] : await model.embed(missing);
    let next = 0;
    return kept.flatMap((known, at) => {
      if (known !== undefined) return [known];
      const vector = computed[next++];
      if (vector === undefined) return [];
      cache.put(keys[at] ?? '', vector);
      return [vector];
    });
  };
  return async (texts) => {
    const vectors: Float32Array[] = [];
    for (let from = 0; from < texts.length; from += BATCH)
      vectors.push(...(await batchOf(texts.slice(from, from + BATCH))));
    return vectors;
  };
}
