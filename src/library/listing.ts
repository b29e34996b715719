import type { Lesson } from '../core/lesson.ts';
import { shownRevision } from './generations.ts';
import type { Shelf } from './shelf.ts';

/** A shelf's lessons in the order of their ids. The same list is given again until something has changed. */
export interface Listing {
  lessons(): readonly Lesson[];
  shown(now: number): readonly Lesson[];
  /** The shelf has changed: these are new or different. */
  update(changed: readonly Lesson[]): void;
}

/** From so many changes on, listing everything again is quicker than finding their places one by one. */
const MANY = 100;

/** Prompts are made far more often than lessons change, so what they ask for is kept ready. */
export function createListing(shelf: Shelf): Listing {
  let all: readonly Lesson[] | undefined;
  let showable: readonly Lesson[] | undefined;
  let visible:
    | { readonly lessons: readonly Lesson[]; readonly from: number; readonly until: number }
    | undefined;

  const lessons = (): readonly Lesson[] => {
    all ??= shelf
      .ids()
      .sort()
      .flatMap((id) => shelf.lesson(id) ?? []);
    return all;
  };
  const shown = (now: number): readonly Lesson[] => {
    showable ??= lessons().filter(isShown);
    if (visible === undefined || now < visible.from || now >= visible.until)
      visible = visibleAt(showable, now);
    return visible.lessons;
  };
  return {
    lessons,
    shown,
    update: (changed) => {
      visible = undefined;
      const isFew = changed.length < MANY;
      all = isFew && all ? withChanged(all, changed, () => true) : undefined;
      showable = isFew && showable ? withChanged(showable, changed, isShown) : undefined;
    },
  };
}

const isShown = (lesson: Lesson): boolean => shownRevision(lesson) !== undefined;

function withChanged(
  list: readonly Lesson[],
  changed: readonly Lesson[],
  belongs: (lesson: Lesson) => boolean,
): readonly Lesson[] {
  const copy = [...list];
  for (const lesson of changed) {
    const index = placeIn(copy, lesson.id);
    const isThere = copy[index]?.id === lesson.id ? 1 : 0;
    copy.splice(index, isThere, ...(belongs(lesson) ? [lesson] : []));
  }
  return copy;
}

/** Where an id stands or would stand. */
function placeIn(list: readonly Lesson[], id: string): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const there = list[middle];
    if (there !== undefined && there.id < id) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** What can be shown, and the stretch of time in which that stays so. */
function visibleAt(showable: readonly Lesson[], now: number) {
  let from = Number.NEGATIVE_INFINITY;
  let until = Number.POSITIVE_INFINITY;
  const lessons = showable.filter(({ expiresAt = Number.POSITIVE_INFINITY }) => {
    if (expiresAt > now) until = Math.min(until, expiresAt);
    else from = Math.max(from, expiresAt);
    return expiresAt > now;
  });
  return { lessons, from, until };
}
