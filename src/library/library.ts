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
  /** The `library-changed` facts after a sequence number, oldest first; fewer than `limit` means the end of the log. */
  readonly load: (after: number, limit: number) => Promise<readonly StoredFact[]>;
  /** Durable when it resolves. */
  readonly append: (fact: NewFact) => Promise<Appended>;
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
  /**
   * The training samples that a change to the prompts does not affect. Called directly before the change is written; the
   * ids go into the same fact. Without it there are none.
   */
  readonly recertify?: (moved: readonly MovedLesson[]) => Promise<readonly string[]>;
  /** Called with the error of a listener; publishing continues. */
  readonly onFault: (error: unknown) => void;
}

/** A lesson that prompts will contain, will no longer contain, or will contain with another text. */
export interface MovedLesson {
  readonly id: string;
  /** After the change. */
  readonly lesson: Lesson | undefined;
  readonly isShown: boolean;
}

export interface OpenLibrary {
  readonly library: Library;
  /** The number of facts that could not be applied completely. */
  readonly skipped: number;
}

/**
 * The library as a fold over the log. A published set is appended and then read back, so that prompts show what the
 * writer stored (with secrets redacted) and a restart gives the same state. When the append succeeds but reading back
 * fails, `publish` rejects although the set is durable; publishing the same set again returns its results. Rejects when
 * the log cannot be read.
 */
export async function openLibrary({
  load,
  append,
  clock,
  newId,
  recertify,
  onFault,
}: LibraryParts): Promise<OpenLibrary> {
  const libraryState = createShelf();
  const listing = createListing(libraryState);
  const listeners = new Set<(published: Published) => void>();
  let read = 0;
  let skipped = 0;
  let isBehind = true;
  let last: Promise<unknown> = Promise.resolve();

  const notify = (published: Published): void => {
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
        if (stored.seq <= read)
          throw new StoreError('io', `the log returned fact ${stored.seq} after ${read}`);
        read = stored.seq;
        const folded = foldFact(libraryState, stored);
        if (folded === undefined) continue;
        if (!folded.isWhole) skipped++;
        listing.update(folded.lessons);
        if (folded.published !== undefined) notify(folded.published);
      }
    } while (page.length >= PAGE);
    isBehind = false;
  };
  const publish = async (set: ReadSet): Promise<Published> => {
    if (isBehind) await catchUp();
    const at = clock.now();
    const before = libraryState.set(set.id);
    if (before !== undefined) return answerAgain(libraryState, set, before, at);
    const draft = createDraft(libraryState, set.by, at);
    const results = set.changes.map((change) => draft.apply(change));
    if (draft.steps.length === 0) return { generation: libraryState.generation, results };
    const moved = shownMoves(libraryState, draft);
    const recertified =
      moved.length === 0 ? undefined : await recertify?.(moved.map(({ id }) => movedIn(draft, id)));
    // A failed append may have reached the disk: only the log can tell.
    isBehind = true;
    const { isNew } = await append({
      at,
      fact: factOf(libraryState, set, draft, recertified),
      key: `set:${set.id}`,
    });
    await catchUp();
    const record = libraryState.set(set.id);
    if (record === undefined)
      throw new StoreError('io', `the log does not contain the set ${set.id} that was just written`);
    return isNew ? { generation: record.generation, results } : answerAgain(libraryState, set, record, at);
  };

  await catchUp();
  const library: Library = {
    get generation() {
      return libraryState.generation;
    },
    lesson: libraryState.lesson,
    find: (idOrName) => {
      const byId = libraryState.lesson(idOrName);
      if (byId !== undefined) return byId;
      const named = listing.lessons().filter(({ state, text }) => isActive(state) && text.name === idOrName);
      return named.length === 1 ? named[0] : undefined;
    },
    lessons: listing.lessons,
    shown: listing.shown,
    history: (id) => [...libraryState.history(id)],
    generations: () => libraryState.generations.map(({ moves: _moves, ...generation }) => generation),
    diff: (from, to) => diffGenerations(libraryState.generations, from, to),
    publish: (set) => {
      const mine = readSet(set);
      const published = last.then(() => publish(mine));
      last = published.catch(() => undefined);
      return published;
    },
    rollback: (generation, by) => {
      const changes = rollbackChanges(libraryState, generation);
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
  libraryState: Shelf,
  { id, by, reason }: ReadSet,
  draft: Draft,
  recertified: readonly string[] | undefined,
): Fact {
  const generation = libraryState.generation + (shownMoves(libraryState, draft).length > 0 ? 1 : 0);
  const changes = draft.steps.map(({ change }) => change);
  const kept = recertified === undefined || recertified.length === 0 ? {} : { recertified };
  return { type: 'library-changed', set: id, by, reason, changes, generation, ...kept };
}
