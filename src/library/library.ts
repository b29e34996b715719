import type { Clock } from '../core/clock.ts';
import type { Fact, StoredFact } from '../core/fact.ts';
import type { Lesson, Published } from '../core/lesson.ts';
import type { Library } from '../core/library.ts';
import { type Appended, type NewFact, StoreError } from '../core/store.ts';
import { answerAgain } from './answer-again.ts';
import { createDraft, type Draft } from './draft.ts';
import { foldFact } from './fold-fact.ts';
import { diffGenerations, shownMoves, shownRevision } from './generations.ts';
import { isActive } from './lesson-place.ts';
import { createListing } from './listing.ts';
import { type ReadSet, readSet } from './read-set.ts';
import { rollbackChanges } from './rollback.ts';
import { createShelf, type Shelf } from './shelf.ts';

const PAGE = 500;

export interface LibraryParts {
  /** The `library-changed` facts after a number, oldest first. Fewer than `limit` means that there are no more. */
  readonly load: (after: number, limit: number) => Promise<readonly StoredFact[]>;
  /** Durable when it resolves. */
  readonly append: (fact: NewFact) => Promise<Appended>;
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
  /**
   * Which training samples a change to the prompts does not concern, asked just before it is written: they are named in
   * the same fact. Without it none are.
   */
  readonly recertify?: (moved: readonly MovedLesson[]) => Promise<readonly string[]>;
  /** Told of what a listener threw; publishing goes on. */
  readonly onFault: (error: unknown) => void;
}

/** A lesson that prompts will contain, no longer contain, or contain in other words. */
export interface MovedLesson {
  readonly id: string;
  /** As it will be. */
  readonly lesson: Lesson | undefined;
  readonly isShown: boolean;
}

export interface OpenLibrary {
  readonly library: Library;
  /** How many facts could not be applied, or not all of them. */
  readonly skipped: number;
}

/**
 * The library that a log tells of. What it holds in memory is only ever what it read from the log: a published set is
 * appended and then read back, so that what the writer made of it (secrets taken out) is what prompts show, and a
 * restart finds the same. When the log cannot be read back the set is durable and `publish` rejects: publishing it again
 * says what became of it. Rejects when the log cannot be read.
 */
export async function openLibrary({
  load,
  append,
  clock,
  newId,
  recertify,
  onFault,
}: LibraryParts): Promise<OpenLibrary> {
  const shelf = createShelf();
  const listing = createListing(shelf);
  const listeners = new Set<(published: Published) => void>();
  let read = 0;
  let skipped = 0;
  let isBehind = true;
  let last: Promise<unknown> = Promise.resolve();

  const tell = (published: Published): void => {
    for (const listener of [...listeners])
      try {
        listener(published);
      } catch (error) {
        onFault(error);
      }
  };
  const catchUp = async (): Promise<void> => {
    let page: readonly StoredFact[];
    do {
      page = await load(read, PAGE);
      for (const stored of page) {
        if (stored.seq <= read) throw new StoreError('io', `the log gave fact ${stored.seq} after ${read}`);
        read = stored.seq;
        const folded = foldFact(shelf, stored);
        if (folded === undefined) continue;
        if (!folded.isWhole) skipped++;
        listing.update(folded.lessons);
        if (folded.published !== undefined) tell(folded.published);
      }
    } while (page.length >= PAGE);
    isBehind = false;
  };
  const publish = async (set: ReadSet): Promise<Published> => {
    if (isBehind) await catchUp();
    const at = clock.now();
    const before = shelf.set(set.id);
    if (before !== undefined) return answerAgain(shelf, set, before, at);
    const draft = createDraft(shelf, set.by, at);
    const results = set.changes.map((change) => draft.apply(change));
    if (draft.steps.length === 0) return { generation: shelf.generation, results };
    const moved = shownMoves(shelf, draft);
    const recertified =
      moved.length === 0 ? undefined : await recertify?.(moved.map(({ id }) => movedIn(draft, id)));
    // An append that fails may have reached the disk all the same: only the log can say.
    isBehind = true;
    const { isNew } = await append({
      at,
      fact: factOf(shelf, set, draft, recertified),
      key: `set:${set.id}`,
    });
    await catchUp();
    const record = shelf.set(set.id);
    if (record === undefined) throw new StoreError('io', `the log does not give back the set ${set.id}`);
    return isNew ? { generation: record.generation, results } : answerAgain(shelf, set, record, at);
  };

  await catchUp();
  const library: Library = {
    get generation() {
      return shelf.generation;
    },
    lesson: shelf.lesson,
    find: (idOrName) => {
      const byId = shelf.lesson(idOrName);
      if (byId !== undefined) return byId;
      const named = listing.lessons().filter(({ state, text }) => isActive(state) && text.name === idOrName);
      return named.length === 1 ? named[0] : undefined;
    },
    lessons: listing.lessons,
    shown: listing.shown,
    history: (id) => [...shelf.history(id)],
    generations: () => shelf.generations.map(({ moves: _moves, ...generation }) => generation),
    diff: (from, to) => diffGenerations(shelf.generations, from, to),
    publish: (set) => {
      const mine = readSet(set);
      const published = last.then(() => publish(mine));
      last = published.catch(() => undefined);
      return published;
    },
    rollback: (generation, by) => {
      const changes = rollbackChanges(shelf, generation);
      if (changes === undefined) return undefined;
      return { id: newId('set'), by, reason: `roll back to generation ${generation}`, changes };
    },
    onChange: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  return {
    library,
    get skipped() {
      return skipped;
    },
  };
}

function movedIn(draft: Draft, id: string): MovedLesson {
  const lesson = draft.changed.get(id);
  return { id, lesson, isShown: lesson !== undefined && shownRevision(lesson) !== undefined };
}

function factOf(
  shelf: Shelf,
  { id, by, reason }: ReadSet,
  draft: Draft,
  recertified: readonly string[] | undefined,
): Fact {
  const generation = shelf.generation + (shownMoves(shelf, draft).length > 0 ? 1 : 0);
  const changes = draft.steps.map(({ change }) => change);
  const kept = recertified === undefined || recertified.length === 0 ? {} : { recertified };
  return { type: 'library-changed', set: id, by, reason, changes, generation, ...kept };
}
