import { hash } from 'node:crypto';
import type { StoredFact } from '../../core/fact.ts';
import type { ErasedText, LessonText, RecordedChange } from '../../core/lesson.ts';
import { addToMoments, EMPTY_MOMENTS, type MomentSums } from '../../stats/moments.ts';
import type { PairedEvidence } from '../../stats/paired-test.ts';
import {
  type EffectVerdict,
  effectEvidence,
  effectVerdict,
  type LessonEffect,
  measureEffect,
} from './measure-effect.ts';

/** Successful sessions in which a lesson was shown: their number, and the last few. */
interface ProvenUses {
  readonly count: number;
  /** Oldest first. */
  readonly recent: readonly Use[];
}

interface Use {
  readonly at: number;
  /** The session's score, 0 to 1. */
  readonly weight: number;
}

const NO_USES: ProvenUses = { count: 0, recent: [] };

/** From this score on a session counts as successful. */
const WELL = 0.5;
/** More would not change the activation noticeably. */
const MOST_RECENT = 12;

function addUse(uses: ProvenUses, { at, weight }: Use): ProvenUses {
  if (weight < WELL) return uses;
  return { count: uses.count + 1, recent: [...uses.recent, { at, weight }].slice(-MOST_RECENT) };
}

/** The lessons that each session was counted for. Sessions are identified by 48 bits of a hash. */
interface CountedSessions {
  /** True the first time that a session counts for a lesson. */
  take(session: number, lesson: string): boolean;
}

export const sessionKey = (session: string): number => hash('sha256', session, 'buffer').readUIntBE(0, 6);

/** The number of sessions for which the lessons are stored. */
const RECENT = 4096;

/**
 * Of a session that more than `recentSize` others have followed only the key is stored, and it counts for no further lesson:
 * none counts twice, and a million sessions take eight megabytes. Two keys collide once in 2^48; such a session is ignored.
 */
export function createCountedSessions(recentSize = RECENT): CountedSessions {
  const recent = new Map<number, Set<string>>();
  let older = new Float64Array(0);

  /** In batches, since each merge is a pass over all older keys. */
  const age = (): void => {
    if (recent.size < 2 * recentSize) return;
    const old = [...recent.keys()].slice(0, recentSize);
    for (const key of old) recent.delete(key);
    older = merge(older, Float64Array.from(old).sort());
  };

  return {
    take: (session, lesson) => {
      const lessons = recent.get(session);
      if (lessons?.has(lesson) || (lessons === undefined && contains(older, session))) return false;
      if (lessons !== undefined) lessons.add(lesson);
      else {
        recent.set(session, new Set([lesson]));
        age();
      }
      return true;
    },
  };
}

function contains(sorted: Float64Array, key: number): boolean {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0) < key) low = middle + 1;
    else high = middle;
  }
  return sorted[low] === key;
}

function merge(one: Float64Array, other: Float64Array): Float64Array<ArrayBuffer> {
  const merged = new Float64Array(one.length + other.length);
  let at = 0;
  let next = 0;
  for (const key of other) {
    const start = at;
    while ((one[at] ?? Number.POSITIVE_INFINITY) < key) at++;
    merged.set(one.subarray(start, at), next);
    next += at - start;
    merged[next++] = key;
  }
  merged.set(one.subarray(at), next);
  return merged;
}

export interface LessonEffects {
  /**
   * Adds a fact. Scores (`session-scored`) must come in the order of their sequence numbers; one that was added before is
   * ignored, so that a log may be read again from any position. A session counts for a lesson once, with the first score
   * that names both. Changes (`library-changed`) that give a lesson a new text restart its measurement, since earlier
   * sessions say nothing about it; add them before the scores that follow. Other links, tags, keywords and evidence are no new text.
   */
  add(stored: StoredFact): void;
  /** The sequence number of the last score. */
  readonly seq: number;
  of(lesson: string): LessonEffect;
  /** The verdict of `of`, faster: most lessons need no interval. */
  verdict(lesson: string): EffectVerdict;
  /** Of sessions with and without it, as logarithms of e-values: that it helps, and that it harms. */
  evidence(lesson: string): PairedEvidence;
  usefulness(lesson: string): MeasuredUse;
}

/** The usefulness of a lesson, for recall. */
interface MeasuredUse {
  /** The last successful sessions in which it was shown. */
  readonly uses: readonly Use[];
  /** The number of all such sessions. */
  readonly count: number;
  readonly last?: number;
  /** Measured to help. */
  readonly isProven: boolean;
}

interface EffectsOptions {
  /** The probability that the interval of a lesson is ever wrong. */
  readonly alpha?: number;
}

/** The measurements of one lesson. */
interface LessonRecord {
  readonly id: string;
  /** The number of the fact that gave it its present text; sessions scored before say nothing about this text. */
  readonly since: number;
  readonly with: MomentSums;
  readonly without: MomentSums;
  readonly uses: ProvenUses;
}

interface Kept {
  record: LessonRecord;
  effect?: LessonEffect;
  verdict?: EffectVerdict;
}

export function createLessonEffects({ alpha = 0.05 }: EffectsOptions = {}): LessonEffects {
  const kept = new Map<string, Kept>();
  const seen = createCountedSessions();
  /** A hash of what each lesson says, and to whom. */
  const texts = new Map<string, string>();
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
    const unmeasured = new Set(fact.unmeasured);
    for (const id of new Set([...lessons, ...heldOut])) {
      if (!seen.take(session, id)) continue;
      // Shown in one part of the session and held out in another: it belongs to neither arm.
      if (shown.has(id) && absent.has(id)) continue;
      const { since, with: before, without, uses } = recordOf(id);
      const isShown = shown.has(id);
      const isCounted = seq > since && !unmeasured.has(id);
      keep({
        id,
        since,
        with: isCounted && isShown ? addToMoments(before, value) : before,
        without: isCounted && !isShown ? addToMoments(without, value) : without,
        uses: isShown ? addUse(uses, { at, weight: value }) : uses,
      });
    }
  };

  const resetMeasurement = (id: string, since: number): void => {
    const record = recordOf(id);
    if (since > record.since) keep({ ...record, since, with: EMPTY_MOMENTS, without: EMPTY_MOMENTS });
  };

  const effectOf = (id: string): LessonEffect => {
    const found = kept.get(id);
    if (found === undefined) return measureEffect(emptyRecord(id), alpha);
    found.effect ??= measureEffect(found.record, alpha);
    return found.effect;
  };

  const judge = (id: string): EffectVerdict => {
    const found = kept.get(id);
    if (found === undefined) return 'unknown';
    found.verdict ??= effectVerdict(found.record, alpha);
    return found.verdict;
  };

  return {
    add: ({ seq: number, at, fact }) => {
      if (fact.type === 'library-changed')
        for (const change of fact.changes) {
          const id = changedTextOf(change);
          if (id === undefined) continue;
          const said = 'text' in change ? hashOfText(change.text) : undefined;
          const isSame = said !== undefined && texts.get(id) === said;
          if (said === undefined) texts.delete(id);
          else texts.set(id, said);
          if (change.op !== 'add' && !isSame) resetMeasurement(id, number);
        }
      if (fact.type !== 'session-scored' || number <= seq) return;
      seq = number;
      if (fact.score >= 0 && fact.score <= 1) score(at, fact);
    },
    get seq() {
      return seq;
    },
    of: effectOf,
    verdict: judge,
    evidence: (id) => effectEvidence(recordOf(id)),
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
  with: EMPTY_MOMENTS,
  without: EMPTY_MOMENTS,
  uses: NO_USES,
});

/** The lesson that may have a new text after a change, or was restored. */
function changedTextOf(change: RecordedChange): string | undefined {
  switch (change.op) {
    case 'add':
    case 'revise':
    case 'restore':
      return change.id;
    case 'merge':
      return change.into;
    default:
      return undefined;
  }
}

/** Undefined for a text that was erased. */
function hashOfText(text: LessonText | ErasedText): string | undefined {
  if ('erased' in text) return undefined;
  const { evidence: _, note, ...words } = text;
  const { relations: _relations, ...rest } = note;
  return hash('sha256', JSON.stringify([words, { ...rest, links: [], tags: [], keywords: [] }]), 'base64');
}
