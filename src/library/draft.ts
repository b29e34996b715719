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

/** A change set applied to a view of the library, which is not modified. */
export interface Draft {
  apply(change: Change | Refused): ChangeResult;
  readonly steps: readonly DraftStep[];
  /** The lessons that differ from the library's, by id. */
  readonly changed: ReadonlyMap<string, Lesson>;
}

/** Each change sees the effect of the changes before it. The cost grows with the changes, not with the library. */
export function createDraft(base: ShelfView, by: Author, at: number): Draft {
  const changed = new Map<string, Lesson>();
  const places = new Map<string, string>();
  const steps: DraftStep[] = [];

  /** A version of a lesson that one of the previous changes made. */
  const version = (id: string, is: (lesson: Lesson) => boolean): Lesson | undefined => {
    if (!changed.has(id)) return undefined;
    return steps.flatMap(({ lessons }) => lessons).find((lesson) => lesson.id === id && is(lesson));
  };
  const view: ShelfView = {
    lesson: (id) => changed.get(id) ?? base.lesson(id),
    text: (id, revision) =>
      base.text(id, revision) ?? version(id, (lesson) => lesson.revision === revision)?.text,
    wasEver: (id, state) =>
      base.wasEver(id, state) || version(id, (lesson) => lesson.state === state) !== undefined,
    holder: (place) => {
      const here = places.get(place);
      const there = here === undefined ? base.holder(place) : undefined;
      // The library's key of a lesson that this draft changed is out of date.
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
