import type { Log } from '../../base/log.ts';
import type { StoredFact } from '../../core/fact.ts';
import type { Library } from '../../core/library.ts';
import { principalOfSession } from '../../core/principal.ts';
import type { NewFact } from '../../core/store.ts';
import type { EvidenceReader } from '../../evidence/evidence-reader.ts';
import type { LessonEffects } from '../../lessons/effect/lesson-effects.ts';
import { type ConflictRecords, findConflicts } from './find-conflicts.ts';
import { isObserved, observeFact } from './observe-fact.ts';
import { MOST_EVENTS, observeSession } from './observe-session.ts';

interface ObserverOptions {
  readonly records: ConflictRecords;
  readonly evidence: Pick<EvidenceReader, 'turns'>;
  readonly library: Pick<Library, 'lesson' | 'history'>;
  readonly effects: Pick<LessonEffects, 'usefulness'>;
  readonly log: Log;
}

/**
 * Sees in the record what could teach something, and reports it as events, as others do over `POST /v1/events`. Never rejects: what cannot
 * be read is not reported.
 */
export interface Observer {
  /** A new fact was read. */
  note(stored: StoredFact): void;
  /** The events of the facts that were noted since the last call. The library must have caught up with them. */
  take(): Promise<readonly NewFact[]>;
  /** The events of a session that has ended; `ended` is what else is written about it. */
  session(session: string, ended: readonly NewFact[], now: number): Promise<readonly NewFact[]>;
}

const MOST_NOTED = 1000;

export function createObserver({ records, evidence, library, effects, log }: ObserverOptions): Observer {
  let noted: StoredFact[] = [];
  const quietly = async (read: () => Promise<readonly NewFact[]>): Promise<readonly NewFact[]> => {
    try {
      return await read();
    } catch (error) {
      log.warn({ err: error }, 'what happened could not be observed');
      return [];
    }
  };
  return {
    note: (stored) => {
      if (isObserved(stored) && noted.length < MOST_NOTED) noted.push(stored);
    },
    take: () =>
      quietly(async () => {
        const found: NewFact[] = [];
        const facts = noted;
        noted = [];
        for (const stored of facts) found.push(...(await observeFact(stored, { records, library })));
        return found;
      }),
    session: (session, ended, now) =>
      quietly(async () => {
        if (principalOfSession(session) !== undefined) return [];
        const turns = await evidence.turns(session);
        const first = turns[0]?.evidence.turn;
        const view = first === undefined ? undefined : await records.turn(first);
        // An episode reports its events itself.
        if (view === undefined) return [];
        const lastUse = (id: string): number | undefined => effects.usefulness(id).last;
        const seen = observeSession(
          { session, view, turns, ended },
          { lessonOf: library.lesson, lastUse },
          now,
        );
        const conflicts = await findConflicts(session, turns, view, records, evidence, now);
        return [...conflicts, ...seen].slice(0, MOST_EVENTS);
      }),
  };
}
