import type { Embed } from '../../core/embed.ts';
import type { Lesson } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import { createRecent } from '../../core/recent.ts';
import { comparedText } from '../../library/similar/near-pairs.ts';
import { cosine } from './cosine.ts';

export interface NearLesson {
  readonly lesson: Lesson;
  readonly cosine: number;
}

const MOST_COMPARED = 2000;
const MOST_KEPT = 5000;

/** The lessons in use that a text is nearest to, the nearest first. Rejects when there is no way to compare. */
export function createNearest(
  embed: Embed,
  library: Library,
): (text: string, most: number) => Promise<readonly NearLesson[]> {
  const known = createRecent<string, Float32Array>(MOST_KEPT);
  const vectorsOf = async (lessons: readonly Lesson[]): Promise<readonly Float32Array[]> => {
    const missing = lessons.filter((lesson) => known.get(keyOf(lesson)) === undefined);
    const vectors = missing.length === 0 ? [] : await embed.embed(missing.map(comparedText));
    missing.forEach((lesson, index) => {
      const vector = vectors[index];
      if (vector !== undefined) known.set(keyOf(lesson), vector);
    });
    return lessons.flatMap((lesson) => known.get(keyOf(lesson)) ?? []);
  };
  return async (text, most) => {
    const active = library.lessons().filter(({ state }) => state !== 'retired' && state !== 'rejected');
    const lessons = active.slice(-MOST_COMPARED);
    if (lessons.length === 0) return [];
    const [asked] = await embed.embed([text]);
    const vectors = await vectorsOf(lessons);
    if (asked === undefined || vectors.length !== lessons.length) return [];
    return lessons
      .map((lesson, index) => ({ lesson, cosine: cosine(asked, vectors[index] ?? asked) }))
      .sort((a, b) => b.cosine - a.cosine)
      .slice(0, most);
  };
}

const keyOf = ({ id, revision }: Lesson): string => `${id} ${revision}`;
