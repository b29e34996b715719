import { createLruMap } from '../base/lru-map.ts';
import type { Lesson } from '../core/lesson.ts';
import type { Library } from '../core/library.ts';
import type { EmbeddingModel } from '../core/recall.ts';
import { comparedText, cosineSimilarity } from '../lessons/similar/compare.ts';
import type { FindSimilar } from './gate/find-duplicate.ts';

interface NearLesson {
  readonly lesson: Lesson;
  readonly cosine: number;
}

const MOST_COMPARED = 2000;
const MOST_KEPT = 5000;

/** The lessons nearest in meaning to a text, the nearest first; among all lessons in use unless some are given. */
export type NearestLessons = (
  text: string,
  most: number,
  among?: readonly Lesson[],
) => Promise<readonly NearLesson[]>;

/** Rejects when the sentence model is unavailable. */
export function createNearestLessons(embed: Pick<EmbeddingModel, 'embed'>, library: Library): NearestLessons {
  // Keyed by text, so a proposal's vector is reused for the lesson it becomes.
  const known = createLruMap<string, Float32Array>(MOST_KEPT);
  const vectorsOf = async (texts: readonly string[]): Promise<readonly Float32Array[]> => {
    const missing = [...new Set(texts)].filter((text) => known.get(text) === undefined);
    const vectors = missing.length === 0 ? [] : await embed.embed(missing);
    missing.forEach((text, index) => {
      const vector = vectors[index];
      if (vector !== undefined) known.set(text, vector);
    });
    return texts.flatMap((text) => known.get(text) ?? []);
  };
  return async (text, most, among = inUse(library)) => {
    const lessons = among.slice(-MOST_COMPARED);
    if (lessons.length === 0) return [];
    const [asked, ...vectors] = await vectorsOf([text, ...lessons.map(comparedText)]);
    if (asked === undefined || vectors.length !== lessons.length) return [];
    return lessons
      .map((lesson, index) => ({ lesson, cosine: cosineSimilarity(asked, vectors[index] ?? asked) }))
      .sort((a, b) => b.cosine - a.cosine)
      .slice(0, most);
  };
}

/** The gate's and practice's question: how near a text is to each of some lessons, at least to the `most` nearest. */
export const createFindSimilar =
  (nearest: NearestLessons, most = Number.POSITIVE_INFINITY): FindSimilar =>
  async (text, among) =>
    (await nearest(comparedText({ text }), most, among)).map(({ lesson: { id }, cosine }) => ({
      id,
      cosine,
    }));

/** Not the private ones: the model that compares them may be learning for another agent. */
const inUse = (library: Library): readonly Lesson[] =>
  library
    .lessons()
    .filter(
      (lesson) =>
        lesson.state !== 'retired' &&
        lesson.state !== 'rejected' &&
        lesson.text.note.visibility !== 'private',
    );
