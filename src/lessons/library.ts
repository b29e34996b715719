import type { Clock } from '../core/clock.ts';
import type { Fact, StoredFact } from '../core/fact.ts';
import type { Fence } from '../core/jobs.ts';
import { type Change, type ChangeResult, isActive, type Lesson, type PublishResult } from '../core/lesson.ts';
import type { Library } from '../core/library.ts';
import { type AppendResult, libraryKey, type NewFact, StoreError } from '../core/store.ts';
import { type ChangeSetDraft, createChangeSetDraft } from './apply-change.ts';
import type { LibraryView } from './change-permissions.ts';
import { whyNotOfKind } from './check-overlay.ts';
import { changedLessonId, type DecodedChangeSet, decodeChangeSet, type RefusedChange } from './codec.ts';
import {
  changedPromptLessons,
  compareGenerations,
  createLibraryState,
  type LibraryState,
  replayPublishedSet,
  shownRevision,
} from './library-state.ts';
import { rollbackChanges } from './rollback.ts';

const PAGE = 500;
/** Each time somebody else was first. */
const MOST_TRIES = 50;

interface LibraryParts {
  /** The `library-changed` facts after a sequence number, oldest first; fewer than `limit` means the end of the log. */
  readonly load: (after: number, limit: number) => Promise<readonly StoredFact[]>;
  /** Durable when it resolves. */
  readonly append: (fact: NewFact) => Promise<AppendResult>;
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
  /** Reads what another thread has published since. */
  catchUp(): Promise<void>;
  /** Reads all of it again: texts in the log were erased. */
  reload(): Promise<void>;
  /** The number of facts that could not be applied completely. */
  readonly skipped: number;
}

/**
 * The library as a fold over the log. A published set is appended and then read back, so that prompts show what the
 * writer stored (with secrets redacted) and a restart gives the same state. When the append succeeds but reading back
 * fails, `publish` rejects although the set is durable; publishing the same set again returns its results. Rejects when
 * the log cannot be read.
 */
export async function openLibrary(parts: LibraryParts): Promise<OpenLibrary> {
  const { newId, onFault } = parts;
  const listeners = new Set<(published: PublishResult) => void>();
  const log: LibraryLog = {
    parts,
    fold: createFold(),
    isBehind: true,
    notify: (published) => {
      for (const listener of [...listeners])
        try {
          listener(published);
        } catch (error) {
          onFault(error);
        }
    },
  };
  let last: Promise<unknown> = Promise.resolve();
  /** One at a time: each publication builds on the one before. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  };

  await catchUp(log);
  const library: Library = {
    get generation() {
      return log.fold.state.generation;
    },
    lesson: (id) => log.fold.state.lesson(id),
    find: (idOrName) => {
      const { state, listing } = log.fold;
      const byId = state.lesson(idOrName);
      if (byId !== undefined) return byId;
      const named = listing.lessons().filter((one) => isActive(one) && one.text.name === idOrName);
      return named.length === 1 ? named[0] : undefined;
    },
    lessons: () => log.fold.listing.lessons(),
    shown: (now) => log.fold.listing.shown(now),
    history: (id) => [...log.fold.state.history(id)],
    generations: () => log.fold.state.generations.map(({ moves: _moves, ...generation }) => generation),
    diff: (from, to) => compareGenerations(log.fold.state.generations, from, to),
    publish: (set, fence) => {
      const mine = decodeChangeSet(set);
      return inTurn(() => publish(log, mine, fence));
    },
    rollback: (generation, by) => {
      const changes = rollbackChanges(log.fold.state, generation);
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
    catchUp: () => inTurn(() => catchUp(log)),
    reload: () => inTurn(() => reload(log)),
    get skipped() {
      return log.fold.skipped;
    },
  };
}

/** The state of the library after some facts of the log. */
interface LibraryFold {
  readonly state: LibraryState;
  readonly listing: LessonListing;
  /** The number of the last fact that was read. */
  read: number;
  /** The number of the last change of the library, also of one that cannot be read. */
  newest: number;
  skipped: number;
}

interface LibraryLog {
  readonly parts: LibraryParts;
  fold: LibraryFold;
  /** The log may have facts that were not read. */
  isBehind: boolean;
  readonly notify: (published: PublishResult) => void;
}

function createFold(): LibraryFold {
  const state = createLibraryState();
  return { state, listing: createLessonListing(state), read: 0, newest: 0, skipped: 0 };
}

/** Reads the log to its end. */
async function readOn(
  fold: LibraryFold,
  { load }: LibraryParts,
  notify: LibraryLog['notify'],
): Promise<void> {
  let page: readonly StoredFact[];
  do {
    page = await load(fold.read, PAGE);
    for (const stored of page) {
      if (stored.seq <= fold.read)
        throw new StoreError('io', `the log returned fact ${stored.seq} after ${fold.read}`);
      fold.read = stored.seq;
      const folded = foldLibraryFact(fold.state, stored);
      if (folded === undefined) continue;
      fold.newest = stored.seq;
      if (!folded.isWhole) fold.skipped++;
      fold.listing.update(folded.lessons);
      if (folded.published !== undefined) notify(folded.published);
    }
  } while (page.length >= PAGE);
}

async function catchUp(log: LibraryLog): Promise<void> {
  await readOn(log.fold, log.parts, log.notify);
  log.isBehind = false;
}

async function reload(log: LibraryLog): Promise<void> {
  // Reads are served from the old state until the new one is complete.
  const fresh = createFold();
  await readOn(fresh, log.parts, () => undefined);
  log.fold = fresh;
  log.isBehind = false;
  log.notify({ generation: fresh.state.generation, results: [] });
}

async function publish(
  log: LibraryLog,
  set: DecodedChangeSet,
  fence: Fence | undefined,
): Promise<PublishResult> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const published = await tryToPublish(log, set, fence);
    if (published !== undefined) return published;
  }
  throw new StoreError(
    'locked',
    `other gateways changed the library ${MOST_TRIES} times meanwhile: nothing was published, try again`,
  );
}

/** Undefined when another process changed the library since it was read: then the set is checked against the new state. */
async function tryToPublish(
  log: LibraryLog,
  set: DecodedChangeSet,
  fence: Fence | undefined,
): Promise<PublishResult | undefined> {
  const { clock, append, recertify } = log.parts;
  if (log.isBehind) await catchUp(log);
  const { fold } = log;
  const { state } = fold;
  const at = clock.now();
  const before = state.set(set.id);
  if (before !== undefined) return replayPublishedSet(state, set, before, at);
  const draft = createChangeSetDraft(state, set.by, at);
  const results = set.changes.map((change) => refusedAsUnused(state, change) ?? draft.apply(change));
  if (draft.steps.length === 0) return { generation: state.generation, results };
  const moved = changedPromptLessons(state, draft);
  const recertified =
    moved.length === 0 ? undefined : await recertify?.(moved.map(({ id }) => movedIn(draft, id)));
  // A failed append may have reached the disk: only the log can tell.
  log.isBehind = true;
  const { isNew, seq } = await append({
    at,
    fact: factOf(state, set, draft, recertified),
    key: libraryKey(fold.newest),
    ...(fence === undefined ? {} : { fence }),
  });
  await catchUp(log);
  const record = state.set(set.id);
  fold.newest = Math.max(fold.newest, seq);
  if (record === undefined && !isNew) return undefined;
  if (record === undefined)
    throw new StoreError('io', `the log does not contain the set ${set.id} that was just written`);
  return isNew
    ? { generation: record.generation, results: results.map((result) => refusedIfErased(state, result)) }
    : replayPublishedSet(state, set, record, at);
}

/**
 * Lessons that nothing could read are not brought into use; those in an old log can be retired, rejected and marked.
 * Only new sets are refused: the fold reads every log.
 */
function refusedAsUnused(view: LibraryView, change: Change | RefusedChange): RefusedChange | undefined {
  if (!('op' in change)) return undefined;
  const isUse =
    change.op === 'add' ||
    change.op === 'revise' ||
    change.op === 'merge' ||
    (change.op === 'move' && change.to !== 'rejected');
  const id = changedLessonId(change);
  const old = view.lesson(id);
  const kind = change.op === 'add' ? change.kind : old?.kind;
  const text = 'text' in change ? change.text : old?.text;
  const why = isUse && kind !== undefined && text !== undefined ? whyNotOfKind(kind, text) : undefined;
  return why === undefined ? undefined : { status: 'refused', id, why };
}

/** The writer leaves out a change that rests on a session which was erased meanwhile. */
const refusedIfErased = (libraryState: LibraryState, result: ChangeResult): ChangeResult =>
  result.status === 'applied' && libraryState.lesson(result.id) === undefined
    ? { status: 'refused', id: result.id, why: 'the session it was learned from was erased' }
    : result;

function movedIn(draft: ChangeSetDraft, id: string): MovedLesson {
  const lesson = draft.changed.get(id);
  return { id, lesson, isShown: lesson !== undefined && shownRevision(lesson) !== undefined };
}

function factOf(
  libraryState: LibraryState,
  { id, by, reason }: DecodedChangeSet,
  draft: ChangeSetDraft,
  recertified: readonly string[] | undefined,
): Fact {
  const generation = libraryState.generation + (changedPromptLessons(libraryState, draft).length > 0 ? 1 : 0);
  const changes = draft.steps.map(({ change }) => change);
  const samples = recertified === undefined || recertified.length === 0 ? {} : { recertified };
  return { type: 'library-changed', set: id, by, reason, changes, generation, ...samples };
}

interface FoldedFact {
  /** Absent when the set was folded before: a set takes effect once. */
  readonly published?: PublishResult;
  /** New and changed lessons. */
  readonly lessons: readonly Lesson[];
  /** False when a change could not be applied: a newer version wrote it, or the file was edited. */
  readonly isWhole: boolean;
}

/**
 * Applies one fact to the library's state. Logged changes pass the same checks as published ones, so that an edit of the
 * file cannot bring a text into a prompt that `publish` would refuse. Undefined for facts of another kind.
 */
function foldLibraryFact(libraryState: LibraryState, { seq, at, fact }: StoredFact): FoldedFact | undefined {
  if (fact.type !== 'library-changed') return undefined;
  const set = decodeChangeSet({ id: fact.set, by: fact.by, reason: fact.reason, changes: fact.changes });
  if (libraryState.set(set.id) !== undefined) return { lessons: [], isWhole: false };
  const draft = createChangeSetDraft(libraryState, set.by, at, true);
  const results = set.changes.map((change) => draft.apply(change));
  const { id, by, reason } = set;
  const { generation } = libraryState.commit(
    draft,
    { id, by, reason, at },
    recordedGeneration(fact.generation, seq),
  );
  const isWhole = Array.isArray(fact.changes) && results.every(({ status }) => status !== 'refused');
  return { published: { generation, results }, lessons: [...draft.changed.values()], isWhole };
}

/**
 * The generation that the fact recorded: turns are stamped with it, also when this version cannot read the change that
 * made it. There are never more generations than facts, so that a greater number is ignored.
 */
const recordedGeneration = (generation: unknown, seq: number): number =>
  typeof generation === 'number' && Number.isSafeInteger(generation) && generation <= seq ? generation : 0;

/** The lessons ordered by id. The same array is returned until something changes. */
interface LessonListing {
  lessons(): readonly Lesson[];
  shown(now: number): readonly Lesson[];
  /** To be called after each change of the library, with the new and changed lessons. */
  update(changed: readonly Lesson[]): void;
}

/** From this many changes on, sorting all lessons again is faster than inserting one by one. */
const MANY = 100;

/** Cached, since prompts are rendered far more often than lessons change. */
function createLessonListing(libraryState: LibraryState): LessonListing {
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
