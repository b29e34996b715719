import type { StoredFact } from '../core/fact.ts';
import type { Lesson, Published } from '../core/lesson.ts';
import { createDraft } from './draft.ts';
import { readSet } from './read-set.ts';
import type { Shelf } from './shelf.ts';

export interface Folded {
  /** Absent when nothing of it was taken in: a set takes effect once. */
  readonly published?: Published;
  /** What is new or different. */
  readonly lessons: readonly Lesson[];
  /** False when some of it could not be applied: it is from a newer version, or was written by another hand. */
  readonly isWhole: boolean;
}

/**
 * Brings a shelf up to one more fact. What the log says is judged by the same rules as what is published now, so that no
 * edit of the file reaches a prompt that could not have been made here. Undefined for facts of another kind.
 */
export function foldFact(shelf: Shelf, { seq, at, fact }: StoredFact): Folded | undefined {
  if (fact.type !== 'library-changed') return undefined;
  const set = readSet({ id: fact.set, by: fact.by, reason: fact.reason, changes: fact.changes });
  if (shelf.set(set.id) !== undefined) return { lessons: [], isWhole: false };
  const draft = createDraft(shelf, set.by, at);
  const results = set.changes.map((change) => draft.apply(change));
  const { id, by, reason } = set;
  const { generation } = shelf.commit(draft, { id, by, reason, at }, claimOf(fact.generation, seq));
  const isWhole = results.length > 0 && results.every(({ status }) => status !== 'refused');
  return { published: { generation, results }, lessons: [...draft.changed.values()], isWhole };
}

/**
 * The generation that turns were stamped with after this fact, also when what made it so cannot be read here. There are
 * never more generations than facts: a greater number is nonsense.
 */
const claimOf = (generation: unknown, seq: number): number =>
  typeof generation === 'number' && Number.isSafeInteger(generation) && generation <= seq ? generation : 0;
