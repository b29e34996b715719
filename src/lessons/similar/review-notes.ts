import type { JsonObject } from '../../core/json.ts';
import type { Lesson } from '../../core/lesson.ts';
import { ngramVector } from '../../embed/ngram-embed.ts';
import { pairNames } from '../title.ts';
import { LESSON_LIKENESS } from './compare.ts';
import { findContradictions } from './contradictions.ts';
import { findDuplicates } from './duplicates.ts';
import { comparedText } from './near-pairs.ts';

/** Lessons that say the same or contradict each other, by their letters: no model is asked. Compares all pairs. */
export function reviewNotes(lessons: readonly Lesson[]): JsonObject {
  const vectors = new Map(lessons.map((lesson) => [lesson.id, ngramVector(comparedText(lesson))]));
  const named = ({ a, b }: { readonly a: Lesson; readonly b: Lesson }): JsonObject => ({
    a: a.id,
    b: b.id,
    ...pairNames(a, b),
  });
  return {
    same: findDuplicates(lessons, vectors, { proof: () => 0 }).pairs.map(named),
    contradictions: findContradictions(lessons, vectors, LESSON_LIKENESS.topic.letters).map((pair) => ({
      ...named(pair),
      why: pair.why,
    })),
  };
}
