import { createManualClock, type ManualClock } from '../../../src/core/clock.ts';
import type { StoredFact } from '../../../src/core/fact.ts';
import type { Author, Change, ChangeSet, LessonText } from '../../../src/core/lesson.ts';
import type { AppendResult, NewFact, Store } from '../../../src/core/store.ts';
import { type OpenLibrary, openLibrary } from '../../../src/lessons/library.ts';

export const person: Author = { kind: 'person', name: 'ada' };
export const learner: Author = { kind: 'learner', name: 'evolver' };
export const instar: Author = { kind: 'instar', name: 'effect' };

export const text = (over: Partial<LessonText> = {}): LessonText => ({
  name: 'check-the-lockfile',
  description: 'When a build fails after a merge.',
  content: 'Compare the lockfile with the manifest first.',
  scope: {},
  note: {
    keywords: ['lockfile'],
    tags: ['build'],
    importance: 0.5,
    confidence: 0.8,
    source: 'experience',
    visibility: 'scoped',
    halfLifeDays: 30,
    links: [],
  },
  evidence: {
    turns: ['t1'],
    quotes: [{ turn: 't1', block: 'ab12', start: 0, length: 4 }],
    learner: 'evolver',
  },
  taint: [],
  ...over,
});

type Add = Extract<Change, { op: 'add' }>;

export const add = (id: string, over: Partial<Add> = {}): Add => ({
  op: 'add',
  id,
  kind: 'skill',
  state: 'live',
  text: text({ name: `lesson-${id}` }),
  ...over,
});

export const setOf = (id: string, changes: readonly Change[], by: Author = person): ChangeSet => ({
  id,
  by,
  reason: `why ${id}`,
  changes,
});

interface Wiring {
  readonly clock?: ManualClock;
  readonly append?: (fact: NewFact) => Promise<AppendResult>;
  readonly load?: (after: number, limit: number) => Promise<readonly StoredFact[]>;
  readonly faults?: unknown[];
}

/** A store's result for one fact. */
export async function appendTo(store: Store, fact: NewFact): Promise<AppendResult> {
  const [appended] = store.append({ facts: [fact] });
  if (appended === undefined) throw new Error('the store gave no answer');
  return appended;
}

/** A library over a store, wired as in the daemon. */
export function openOn(
  store: Store,
  { clock, append, load, faults = [] }: Wiring = {},
): Promise<OpenLibrary> {
  let ids = 0;
  return openLibrary({
    load: load ?? (async (after, limit) => store.factsOf('library-changed', after, limit)),
    append: append ?? ((fact) => appendTo(store, fact)),
    clock: clock ?? createManualClock(1_000),
    newId: (prefix) => `${prefix}_${store.totals().facts}_${++ids}`,
    onFault: (error) => faults.push(error),
  });
}
