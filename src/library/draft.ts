import type { Author, Change, ChangeResult, Lesson } from '../core/lesson.ts';
import { applyChange } from './apply-change.ts';
import { isActive, placeOf } from './lesson-place.ts';
import type { Refused } from './read-change.ts';
import type { ShelfView } from './shelf-view.ts';

/** One change that took effect in a draft. */
export interface DraftStep {
  readonly change: Change;
  readonly result: ChangeResult;
  readonly lessons: readonly Lesson[];
}

/** A set of changes being tried on a shelf, which it only reads. */
export interface Draft {
  apply(change: Change | Refused): ChangeResult;
  readonly steps: readonly DraftStep[];
  /** The lessons that are different from the shelf's, by id. */
  readonly changed: ReadonlyMap<string, Lesson>;
}

/** Each change sees what the ones before it did. A draft costs as much as it changes, not as much as the shelf holds. */
export function createDraft(shelf: ShelfView, by: Author, at: number): Draft {
  const changed = new Map<string, Lesson>();
  const places = new Map<string, string>();
  const steps: DraftStep[] = [];

  /** What a lesson was after one of the changes before. */
  const version = (id: string, is: (lesson: Lesson) => boolean): Lesson | undefined => {
    if (!changed.has(id)) return undefined;
    return steps.flatMap(({ lessons }) => lessons).find((lesson) => lesson.id === id && is(lesson));
  };
  const view: ShelfView = {
    lesson: (id) => changed.get(id) ?? shelf.lesson(id),
    text: (id, revision) =>
      shelf.text(id, revision) ?? version(id, (lesson) => lesson.revision === revision)?.text,
    wasEver: (id, state) =>
      shelf.wasEver(id, state) || version(id, (lesson) => lesson.state === state) !== undefined,
    holder: (place) => {
      const here = places.get(place);
      const there = here === undefined ? shelf.holder(place) : undefined;
      // Where a lesson that was touched stands now is known here alone.
      return there === undefined || changed.has(there) ? here : there;
    },
  };
  const put = (lesson: Lesson): void => {
    const before = changed.get(lesson.id);
    const left = before && placeOf(before.text);
    if (left !== undefined && places.get(left) === lesson.id) places.delete(left);
    if (isActive(lesson.state)) places.set(placeOf(lesson.text), lesson.id);
    changed.set(lesson.id, lesson);
  };

  return {
    steps,
    changed,
    apply: (change) => {
      if (!('op' in change)) return change;
      const { result, lessons } = applyChange(view, change, by, at);
      for (const lesson of lessons) put(lesson);
      if (result.status === 'applied') steps.push({ change, result, lessons });
      return result;
    },
  };
}
