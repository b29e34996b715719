import type { Lesson } from '../../core/lesson.ts';
import type { Recalled } from '../../core/recall.ts';
import type { Thread } from './thread.ts';

/** Adds the lessons that the thread was shown and that were revised since, whether or not they match the newest message. */
export function withRevised(
  recalled: Recalled,
  { changed, thread }: { readonly changed: ReadonlySet<string>; readonly thread: Thread },
  lesson: (id: string) => Lesson | undefined,
): Recalled {
  const chosen = new Set([...recalled.lessons.map(({ id }) => id), ...recalled.heldOut]);
  const revised = [...changed]
    .filter((id) => thread.inForce.has(id) && !chosen.has(id))
    .flatMap((id) => lesson(id) ?? []);
  if (revised.length === 0) return recalled;
  const looked = new Map(recalled.considered.map((one) => [one.id, one]));
  for (const { id, revision, text } of revised) {
    const { relevance = 0, activation = 0 } = looked.get(id) ?? {};
    looked.set(id, { id, revision, name: text.name, relevance, activation, verdict: 'shown' });
  }
  return { ...recalled, lessons: [...recalled.lessons, ...revised], considered: [...looked.values()] };
}
