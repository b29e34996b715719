import { isDeepStrictEqual } from 'node:util';
import type { Change, LessonState } from '../core/lesson.ts';
import { diffGenerations, shownRevision } from './generations.ts';
import { placeOf } from './lesson-place.ts';
import type { Shelf } from './shelf.ts';

type Restore = Extract<Change, { op: 'restore' }>;

/**
 * The changes that make prompts contain what they could under a generation: word for word, under whatever revision
 * numbers. Undefined if it never was. First go the lessons that were not shown then or stand in the place of one that
 * was; then those come back that were, in the state they had.
 */
export function rollbackChanges(shelf: Shelf, generation: number): readonly Change[] | undefined {
  const then = diffGenerations(shelf.generations, 0, generation)?.added;
  const now = diffGenerations(shelf.generations, 0, shelf.generation)?.added;
  if (then === undefined || now === undefined) return undefined;

  const restores = then.flatMap(({ id, revision }): Restore[] => {
    const state = stateUnder(shelf, id, generation);
    const isSo = isShownAs(shelf, id, revision);
    return isSo || state === undefined ? [] : [{ op: 'restore', id, revision, state }];
  });
  const leaving = new Map<string, string>();
  const kept = new Set(then.map(({ id }) => id));
  for (const { id } of now) if (!kept.has(id)) leaving.set(id, `rolled back to generation ${generation}`);
  for (const { id, revision } of restores) {
    const text = shelf.text(id, revision);
    const holder = text && shelf.holder(placeOf(text));
    if (holder !== undefined && holder !== id && !leaving.has(holder))
      leaving.set(holder, `gives way to ${id}, rolled back to generation ${generation}`);
  }
  const retires = [...leaving].map(([id, reason]): Change => ({ op: 'retire', id, reason }));
  return [...retires, ...restores];
}

/** Whether prompts may contain now what a revision said. */
function isShownAs(shelf: Shelf, id: string, revision: number): boolean {
  const lesson = shelf.lesson(id);
  return shownRevision(lesson) !== undefined && isDeepStrictEqual(lesson?.text, shelf.text(id, revision));
}

/** The state a lesson had when a generation ended. */
const stateUnder = (shelf: Shelf, id: string, generation: number): LessonState | undefined =>
  shelf.history(id).findLast((event) => event.generation <= generation)?.state;
