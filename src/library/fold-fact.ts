import type { StoredFact } from '../core/fact.ts';
import type { Lesson, Published } from '../core/lesson.ts';
import { createDraft } from './draft.ts';
import { readSet } from './read-set.ts';
import type { Shelf } from './shelf.ts';

export interface Folded {
  /** Absent when the set was folded before: a set takes effect once. */
  readonly published?: Published;
  /** New and changed lessons. */
  readonly lessons: readonly Lesson[];
  /** False when a change could not be applied: a newer version wrote it, or the file was edited. */
  readonly isWhole: boolean;
}

/**
 * Applies one fact to the library's state. Logged changes pass the same checks as published ones, so that an edit of the
 * file cannot bring a text into a prompt that `publish` would refuse. Undefined for facts of another kind.
 */
export function foldFact(libraryState: Shelf, { seq, at, fact }: StoredFact): Folded | undefined {
  if (fact.type !== 'library-changed') return undefined;
  const set = readSet({ id: fact.set, by: fact.by, reason: fact.reason, changes: fact.changes });
  if (libraryState.set(set.id) !== undefined) return { lessons: [], isWhole: false };
  const draft = createDraft(libraryState, set.by, at);
  const results = set.changes.map((change) => draft.apply(change));
  const { id, by, reason } = set;
  const { generation } = libraryState.commit(
    draft,
    { id, by, reason, at },
    recordedGeneration(fact.generation, seq),
  );
  const isWhole = results.length > 0 && results.every(({ status }) => status !== 'refused');
  return { published: { generation, results }, lessons: [...draft.changed.values()], isWhole };
}

/**
 * The generation that the fact recorded: turns are stamped with it, also when this version cannot read the change that
 * made it. There are never more generations than facts, so that a greater number is ignored.
 */
const recordedGeneration = (generation: unknown, seq: number): number =>
  typeof generation === 'number' && Number.isSafeInteger(generation) && generation <= seq ? generation : 0;
