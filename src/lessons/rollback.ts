import { isDeepStrictEqual } from 'node:util';
import type { Change, LessonState } from '../core/lesson.ts';
import { uniqueKeyOf } from './change-permissions.ts';
import { isOwnersAlone } from './identity-tier.ts';
import { compareGenerations, type LibraryState, shownRevision } from './library-state.ts';

type Restore = Extract<Change, { op: 'restore' }>;

/**
 * The changes after which prompts may contain the same texts as under an earlier generation; revision numbers may differ.
 * Undefined if the generation never existed. First the lessons that were not in it, or that hold the name of one that
 * was, are retired; then its lessons are restored in the state they had.
 */
export function rollbackChanges(
  libraryState: LibraryState,
  generation: number,
): readonly Change[] | undefined {
  const then = compareGenerations(libraryState.generations, 0, generation)?.added;
  const now = compareGenerations(libraryState.generations, 0, libraryState.generation)?.added;
  if (then === undefined || now === undefined) return undefined;

  const restores = then.flatMap(({ id, revision }): Restore[] => {
    const state = stateUnder(libraryState, id, generation);
    const isCurrent = isShownAs(libraryState, id, revision);
    return isCurrent || state === undefined ? [] : [{ op: 'restore', id, revision, state }];
  });
  const leaving = new Map<string, string>();
  const kept = new Set(then.map(({ id }) => id));
  for (const { id } of now) if (!kept.has(id)) leaving.set(id, `rolled back to generation ${generation}`);
  for (const { id, revision } of restores) {
    const text = libraryState.text(id, revision);
    const holder = text && libraryState.holder(uniqueKeyOf(text));
    if (holder !== undefined && holder !== id && !leaving.has(holder))
      leaving.set(holder, `replaced by ${id}, rolled back to generation ${generation}`);
  }
  const isKept = (id: string): boolean => isOwnersIdentity(libraryState, id);
  const retires = [...leaving]
    .filter(([id]) => !isKept(id))
    .map(([id, reason]): Change => ({ op: 'retire', id, reason }));
  return [...retires, ...restores.filter(({ id }) => !isKept(id))];
}

/** An identity of the owner's own tiers stays as it is: it is rolled back by itself, at the owner's word. */
const isOwnersIdentity = (libraryState: LibraryState, id: string): boolean => {
  const lesson = libraryState.lesson(id);
  return lesson !== undefined && isOwnersAlone(lesson);
};

/** Whether prompts may now contain the text of this revision. */
function isShownAs(libraryState: LibraryState, id: string, revision: number): boolean {
  const lesson = libraryState.lesson(id);
  return (
    shownRevision(lesson) !== undefined && isDeepStrictEqual(lesson?.text, libraryState.text(id, revision))
  );
}

/** The state a lesson had when a generation ended. */
const stateUnder = (libraryState: LibraryState, id: string, generation: number): LessonState | undefined =>
  libraryState.history(id).findLast((event) => event.generation <= generation)?.state;
