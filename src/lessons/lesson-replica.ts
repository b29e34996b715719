import type { Clock } from '../core/clock.ts';
import type { StoredFact } from '../core/fact.ts';
import type { ChangeSet, PublishResult } from '../core/lesson.ts';
import type { Library } from '../core/library.ts';
import { type Records, StoreError } from '../core/store.ts';
import { eachFactOf } from './each-fact.ts';
import { readTrials } from './effect/fold-trials.ts';
import { createLessonEffects, type LessonEffects } from './effect/lesson-effects.ts';
import { openLibrary } from './library.ts';

/** The library and the measured effects in a thread that does not own them. */
export interface LessonReplica {
  /** Reads are immediate; `publish` is the owner's, and is visible here when it resolves. */
  readonly library: Library;
  readonly effects: LessonEffects;
  /** Reads what the owner has published since. */
  catchUp(): Promise<void>;
  /** Reads all of it again: texts in the log were erased. */
  reload(): Promise<void>;
  /** The facts that it was opened from, once: who folds them too need not read and check them again. */
  takeFirstRead(): readonly StoredFact[];
}

interface LessonReplicaOptions {
  readonly records: Pick<Records, 'factsOf' | 'events'>;
  /** Publishes in the thread that owns the library. */
  readonly publish: (set: ChangeSet) => Promise<PublishResult>;
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
  readonly onFault: (error: unknown) => void;
}

/** Folds the same facts as the owner. Rejects with `StoreError` when the record cannot be read. */
export async function openLessonReplica(options: LessonReplicaOptions): Promise<LessonReplica> {
  const { records, publish, clock, newId, onFault } = options;
  const effects = createLessonEffects();
  let firstRead: StoredFact[] = [];
  let isOpen = false;
  const { library, catchUp, reload } = await openLibrary({
    // A change of a lesson's text also restarts its measurement.
    load: async (after, limit) => {
      const page = await records.factsOf('library-changed', after, limit);
      for (const stored of page) effects.add(stored);
      if (!isOpen) firstRead.push(...page);
      return page;
    },
    append: async () => {
      throw new StoreError('io', 'a copy of the library cannot be written');
    },
    clock,
    newId,
    onFault,
  });
  isOpen = true;
  await eachFactOf('session-scored', records, effects.add);
  await readTrials(records, effects.add);
  return {
    library: {
      ...library,
      get generation() {
        return library.generation;
      },
      publish: async (set) => {
        const published = await publish(set);
        await catchUp();
        return published;
      },
    },
    effects,
    catchUp,
    reload,
    takeFirstRead: () => {
      const taken = firstRead;
      firstRead = [];
      return taken;
    },
  };
}
