import type { StoredFact } from '../../core/fact.ts';
import type { Change } from '../../core/lesson.ts';
import { addToTally, EMPTY_TALLY, type Tally } from '../../stats/tally.ts';
import { type Effect, measureEffect, verdictOf } from './effect.ts';
import type { EffectVerdict } from './judge-effect.ts';
import { addUse, NO_USES, type ProvenUses, type Use } from './proven-uses.ts';
import { createSeenSessions, sessionKey } from './seen-sessions.ts';

export interface Effects {
  /**
   * Adds a fact. Scores (`session-scored`) must come in the order of their sequence numbers; one that was added before is
   * ignored, so that a log may be read again from any position. A session counts for a lesson once, with the first score
   * that names both. Changes (`library-changed`) that give a lesson a new text restart its measurement, since earlier
   * sessions say nothing about it; add them before the scores that follow.
   */
  add(stored: StoredFact): void;
  /** The sequence number of the last score. */
  readonly seq: number;
  of(lesson: string): Effect;
  /** The verdict of `of`, faster: most lessons need no interval. */
  verdict(lesson: string): EffectVerdict;
  usefulness(lesson: string): MeasuredUse;
}

/** The usefulness of a lesson, for recall. */
export interface MeasuredUse {
  /** The last successful sessions in which it was shown. */
  readonly uses: readonly Use[];
  /** The number of all such sessions. */
  readonly count: number;
  readonly last?: number;
  /** Measured to help. */
  readonly isProven: boolean;
}

export interface EffectsOptions {
  /** The probability that the interval of a lesson is ever wrong. */
  readonly alpha?: number;
}

/** The measurements of one lesson. */
interface LessonRecord {
  readonly id: string;
  /** The number of the fact that gave it its present text; sessions scored before say nothing about this text. */
  readonly since: number;
  readonly with: Tally;
  readonly without: Tally;
  readonly uses: ProvenUses;
}

interface Kept {
  record: LessonRecord;
  effect?: Effect;
  verdict?: EffectVerdict;
}

export function createEffects({ alpha = 0.05 }: EffectsOptions = {}): Effects {
  const kept = new Map<string, Kept>();
  const seen = createSeenSessions();
  let seq = 0;

  const recordOf = (id: string): LessonRecord => kept.get(id)?.record ?? emptyRecord(id);
  /** Drops the results that were computed from the previous record. */
  const keep = (record: LessonRecord): void => {
    kept.set(record.id, { record });
  };

  const score = (at: number, fact: Scored): void => {
    const { lessons, heldOut, score: value } = fact;
    const session = sessionKey(fact.session);
    const shown = new Set(lessons);
    const absent = new Set(heldOut);
    for (const id of new Set([...lessons, ...heldOut])) {
      if (!seen.take(session, id)) continue;
      // Shown in one part of the session and held out in another: it belongs to neither arm.
      if (shown.has(id) && absent.has(id)) continue;
      const { since, with: before, without, uses } = recordOf(id);
      const isShown = shown.has(id);
      const isOfPresentText = seq > since;
      keep({
        id,
        since,
        with: isOfPresentText && isShown ? addToTally(before, value) : before,
        without: isOfPresentText && !isShown ? addToTally(without, value) : without,
        uses: isShown ? addUse(uses, { at, weight: value }) : uses,
      });
    }
  };

  const resetMeasurement = (id: string, since: number): void => {
    const record = recordOf(id);
    if (since > record.since) keep({ ...record, since, with: EMPTY_TALLY, without: EMPTY_TALLY });
  };

  const effectOf = (id: string): Effect => {
    const found = kept.get(id);
    if (found === undefined) return measureEffect(emptyRecord(id), alpha);
    found.effect ??= measureEffect(found.record, alpha);
    return found.effect;
  };

  const judge = (id: string): EffectVerdict => {
    const found = kept.get(id);
    if (found === undefined) return 'unknown';
    found.verdict ??= verdictOf(found.record, alpha);
    return found.verdict;
  };

  return {
    add: ({ seq: number, at, fact }) => {
      if (fact.type === 'library-changed')
        for (const change of fact.changes)
          for (const id of lessonsWithNewText(change)) resetMeasurement(id, number);
      if (fact.type !== 'session-scored' || number <= seq) return;
      seq = number;
      if (fact.score >= 0 && fact.score <= 1) score(at, fact);
    },
    get seq() {
      return seq;
    },
    of: effectOf,
    verdict: judge,
    usefulness: (id) => {
      const { count, recent } = recordOf(id).uses;
      const last = recent.at(-1)?.at;
      return {
        uses: recent,
        count,
        ...(last === undefined ? {} : { last }),
        isProven: judge(id) === 'helpful',
      };
    },
  };
}

type Scored = Extract<StoredFact['fact'], { readonly type: 'session-scored' }>;

const emptyRecord = (id: string): LessonRecord => ({
  id,
  since: 0,
  with: EMPTY_TALLY,
  without: EMPTY_TALLY,
  uses: NO_USES,
});

/** The lessons that have a new text after a change, or were restored. */
function lessonsWithNewText(change: Change): readonly string[] {
  switch (change.op) {
    case 'revise':
    case 'restore':
      return [change.id];
    case 'merge':
      return [change.into];
    default:
      return [];
  }
}
