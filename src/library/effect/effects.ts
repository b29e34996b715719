import type { StoredFact } from '../../core/fact.ts';
import type { Change } from '../../core/lesson.ts';
import { addToTally, EMPTY_TALLY } from '../../stats/tally.ts';
import { type Effect, measureEffect, verdictOf } from './effect.ts';
import { createSnapshot, type EffectsSnapshot, type LessonRecord } from './effects-snapshot.ts';
import type { EffectVerdict } from './judge-effect.ts';
import { addUse, NO_USES, type Use } from './proven-uses.ts';
import { createSeenSessions, sessionKey } from './seen-sessions.ts';

export interface Effects {
  /**
   * Takes a fact in. Scores (`session-scored`) must come in the order of their numbers; one that was taken before is
   * passed over, so that a log may be read again from anywhere. A session counts for a lesson once, with the first
   * score that names both: a later one replaces nothing. Changes (`library-changed`) that give a lesson new words start
   * its measurement anew: a session scored before says nothing about them; tell them before the scores that follow them.
   */
  add(stored: StoredFact): void;
  /** The number of the last score that was taken. */
  readonly seq: number;
  of(lesson: string): Effect;
  /** The same as in `of`, without the work of an interval for the many that have none. */
  verdict(lesson: string): EffectVerdict;
  usefulness(lesson: string): MeasuredUse;
  /** As it is now; it does not change afterwards. */
  snapshot(): EffectsSnapshot;
}

/** What recall wants to know of a lesson's worth. */
export interface MeasuredUse {
  /** The last sessions in which it was shown and that came out well. */
  readonly uses: readonly Use[];
  /** All of them. */
  readonly count: number;
  readonly last?: number;
  /** Measured to help. */
  readonly isProven: boolean;
}

export interface EffectsOptions {
  /** How often an interval may ever be wrong, per lesson. */
  readonly alpha?: number;
  readonly snapshot?: EffectsSnapshot;
}

interface Kept {
  record: LessonRecord;
  effect?: Effect;
  verdict?: EffectVerdict;
}

export function createEffects({ alpha = 0.05, snapshot }: EffectsOptions = {}): Effects {
  const kept = new Map<string, Kept>(snapshot?.lessons.map((record) => [record.id, { record }]));
  const seen = createSeenSessions(snapshot?.seen);
  let seq = snapshot?.seq ?? 0;

  const recordOf = (id: string): LessonRecord => kept.get(id)?.record ?? emptyRecord(id);
  /** What was worked out from the old one goes with it. */
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
      // Shown in one part of a session and not in another: it belongs to neither sort.
      if (shown.has(id) && absent.has(id)) continue;
      const { since, with: before, without, uses } = recordOf(id);
      const isShown = shown.has(id);
      const isOfItsWords = seq > since;
      keep({
        id,
        since,
        with: isOfItsWords && isShown ? addToTally(before, value) : before,
        without: isOfItsWords && !isShown ? addToTally(without, value) : without,
        uses: isShown ? addUse(uses, { at, weight: value }) : uses,
      });
    }
  };

  const reword = (id: string, since: number): void => {
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
        for (const change of fact.changes) for (const id of reworded(change)) reword(id, number);
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
    snapshot: () =>
      createSnapshot({ seq, lessons: [...kept.values()].map(({ record }) => record), seen: seen.snapshot() }),
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

/** The lessons that say something else after a change, or are put back to be tried again. */
function reworded(change: Change): readonly string[] {
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
