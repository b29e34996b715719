import type { Author, Lesson } from '../core/lesson.ts';
import { isActive, placeOf } from './lesson-place.ts';
import type { ShelfView } from './shelf-view.ts';

/** Why an author may not bring lessons into these states; undefined when they may. */
export function whyNotBy(by: Author, shelf: ShelfView, lessons: readonly Lesson[]): string | undefined {
  for (const lesson of lessons) {
    const before = shelf.lesson(lesson.id);
    const why =
      (before === undefined || by.kind === 'person' ? undefined : whyNotTouch(before, lesson, by.kind)) ??
      whyNotThere(shelf, lesson, lessons);
    if (why !== undefined) return why;
  }
  return undefined;
}

/** What a person froze, pinned or rejected stays as they left it, also against a change that gets there another way. */
function whyNotTouch(before: Lesson, after: Lesson, kind: Author['kind']): string | undefined {
  const { id } = before;
  if (before.frozen) return `${id} is frozen: only a person may change it`;
  if (before.state === 'rejected' && after.state !== 'rejected')
    return `${id} was rejected: only a person may take it up again`;
  if (!before.pinned) return undefined;
  if (!after.pinned) return `${id} is pinned: only a person may unpin it`;
  return kind === 'instar' && isLess(before, after)
    ? `${id} is pinned: no measurement may take it away`
    : undefined;
}

const STANDING = { retired: 0, rejected: 0, proposed: 1, trial: 2, live: 2 } as const;

/** Whether a lesson is less in use than before, or for a shorter time. */
const isLess = (before: Lesson, after: Lesson): boolean =>
  STANDING[after.state] < STANDING[before.state] ||
  (after.expiresAt ?? Number.POSITIVE_INFINITY) < (before.expiresAt ?? Number.POSITIVE_INFINITY);

/** A name must lead to one lesson. One that leaves its place in the same change does not stand in the way. */
function whyNotThere(shelf: ShelfView, lesson: Lesson, changed: readonly Lesson[]): string | undefined {
  if (!isActive(lesson.state)) return undefined;
  const holder = shelf.holder(placeOf(lesson.text));
  if (holder === undefined || holder === lesson.id) return undefined;
  if (changed.some(({ id, state }) => id === holder && !isActive(state))) return undefined;
  return `${holder} has the name ${lesson.text.name} in the same scope: revise that one, or take another name`;
}
