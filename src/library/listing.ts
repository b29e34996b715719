import type { Lesson } from '../core/lesson.ts';
import { shownRevision } from './generations.ts';
import type { Shelf } from './shelf.ts';

/** The lessons ordered by id. The same array is returned until something changes. */
export interface Listing {
  lessons(): readonly Lesson[];
  shown(now: number): readonly Lesson[];
  /** To be called after each change of the library, with the new and changed lessons. */
  update(changed: readonly Lesson[]): void;
}

/** From this many changes on, sorting all lessons again is faster than inserting one by one. */
const MANY = 100;

/** Cached, since prompts are rendered far more often than lessons change. */
export function createListing(libraryState: Shelf): Listing {
  let all: readonly Lesson[] | undefined;
  let showable: readonly Lesson[] | undefined;
  let visible:
    | { readonly lessons: readonly Lesson[]; readonly from: number; readonly until: number }
    | undefined;

  const lessons = (): readonly Lesson[] => {
    all ??= libraryState
      .ids()
      .sort()
      .flatMap((id) => libraryState.lesson(id) ?? []);
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
    const index = indexIn(copy, lesson.id);
    const isThere = copy[index]?.id === lesson.id ? 1 : 0;
    copy.splice(index, isThere, ...(belongs(lesson) ? [lesson] : []));
  }
  return copy;
}

/** The index of an id, or the index at which it would be inserted. */
function indexIn(list: readonly Lesson[], id: string): number {
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

/** The lessons that have not expired at `now`, and the interval in which that holds. */
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
