import type { Lesson } from '../../core/lesson.ts';
import { scopesOverlap } from '../scope.ts';
import { cosineSimilarity } from './compare.ts';

/**
 * Unit vectors by lesson id, all of one model, of the text of `comparedText`: by the description alone, different advice for
 * the same situation would look the same. Lessons without a vector are left out.
 */
export type LessonVectors = ReadonlyMap<string, Float32Array>;

export interface NearLessonPair {
  readonly a: Lesson;
  readonly b: Lesson;
  /** The cosine of their vectors. */
  readonly similarity: number;
}

export const comparedText = ({ text }: Pick<Lesson, 'text'>): string =>
  `${text.description}\n${text.content}`;

/**
 * Pairs of active lessons with overlapping scopes and at least this similarity, in the order of the list. Compares all
 * pairs: about five seconds for 3,000 lessons.
 */
export function nearPairs(
  lessons: readonly Lesson[],
  vectors: LessonVectors,
  threshold: number,
): readonly NearLessonPair[] {
  return [...eachNearPair(lessons, vectors, threshold)].filter((pair) => pair !== undefined);
}

/** The same, one after the other; undefined after each lesson, so that whoever asks may do something else in between. */
export function* eachNearPair(
  lessons: readonly Lesson[],
  vectors: LessonVectors,
  threshold: number,
): Generator<NearLessonPair | undefined> {
  const placed = lessons.flatMap((lesson) => {
    const vector = vectors.get(lesson.id);
    const isOut = lesson.state === 'retired' || lesson.state === 'rejected';
    return vector === undefined || isOut ? [] : [{ lesson, vector }];
  });
  for (const [at, { lesson: a, vector }] of placed.entries()) {
    for (let next = at + 1; next < placed.length; next++) {
      const other = placed[next];
      if (other === undefined) continue;
      const similarity = cosineSimilarity(vector, other.vector);
      const b = other.lesson;
      if (similarity >= threshold && scopesOverlap(a.text.scope, b.text.scope)) yield { a, b, similarity };
    }
    yield undefined;
  }
}
