import { hash } from 'node:crypto';
import type { StoredFact } from '../../core/fact.ts';
import type { ErasedText, LessonText, RecordedChange, Scope } from '../../core/lesson.ts';
import { placeKey, placeOfSession } from '../../core/principal.ts';
import {
  addOutcomes,
  type DecidedCounts,
  NO_OUTCOMES,
  type OutcomeCounts,
} from '../../stats/effect-posterior.ts';
import { isInScope } from '../scope.ts';
import type { EffectVerdict } from './judge-effect.ts';

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

/** What a session was counted as, so that a score can take the place of silence. */
interface CountedSession {
  outcome: OutcomeCounts;
  readonly arms: Map<string, CountedArm>;
  /** The lessons of which it was counted as a successful use. */
  readonly used: Set<string>;
}

type Arm = 'with' | 'without' | 'neither';

/** `own`: what the lesson's own check said; it stays where a score comes later. */
interface CountedArm {
  readonly arm: Arm;
  readonly own?: OutcomeCounts;
}

/** The sessions that were counted. Sessions are identified by 48 bits of a hash. */
interface CountedSessions {
  /** Undefined for a session that was counted long ago: it counts for nothing more. */
  open(session: number): CountedSession | undefined;
  of(session: number): CountedSession | undefined;
  has(session: number): boolean;
}

const sessionKey = (session: string): number => hash('sha256', session, 'buffer').readUIntBE(0, 6);

/** The number of sessions for which the lessons are stored. */
const RECENT = 4096;

/**
 * Of a session that more than `recentSize` others have followed only the key is stored, and it counts for no further lesson:
 * none counts twice, and a million sessions take eight megabytes. Two keys collide once in 2^48; such a session is ignored.
 */
function createCountedSessions(recentSize = RECENT): CountedSessions {
  const recent = new Map<number, CountedSession>();
  let older = new Float64Array(0);

  /** In batches, since each merge is a pass over all older keys. */
  const age = (): void => {
    if (recent.size < 2 * recentSize) return;
    const old = [...recent.keys()].slice(0, recentSize);
    for (const key of old) recent.delete(key);
    older = merge(older, Float64Array.from(old).sort());
  };

  return {
    of: (session) => recent.get(session),
    has: (session) => recent.has(session) || contains(older, session),
    open: (session) => {
      const counted = recent.get(session);
      if (counted !== undefined || contains(older, session)) return counted;
      const fresh: CountedSession = { outcome: NO_OUTCOMES, arms: new Map(), used: new Set() };
      recent.set(session, fresh);
      age();
      return fresh;
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

/** Sessions with and without a lesson, by how they came out for it: by its own check where it has one. */
export interface LessonSessions {
  readonly with: OutcomeCounts;
  readonly without: OutcomeCounts;
  /** Both arms together, as they are counted among all sessions. */
  readonly scored: OutcomeCounts;
}

/**
 * What the record says about lessons in real work: how sessions with and without each came out, silent ones included, and what was decided of it.
 * Nothing is computed here but sums; `weigh-lesson` weighs them.
 */
export interface LessonEffects {
  /**
   * Adds a fact. Sessions (`session-scored`) must come in the order of their sequence numbers; one that was added before is
   * ignored, so that a log may be read again from any position. A session counts for a lesson once: as its own check said, else by its score, which takes the place of silence.
   * Changes (`library-changed`) that give a lesson a new text restart its measurement, since earlier
   * sessions say nothing about it; add them before the sessions that follow. Other links, tags, keywords and evidence are no new text.
   * Verdicts (`trial-ended`) hold for the text that they were given to.
   */
  add(stored: StoredFact): void;
  /** The sequence number of the last session. */
  readonly seq: number;
  /** Grows with every fact that counts. */
  readonly version: number;
  sessionsOf(lesson: string): LessonSessions;
  /** All sessions of the home. */
  all(): OutcomeCounts;
  /** How a recent session came out; undefined for others. */
  outcomeOf(session: string): OutcomeCounts | undefined;
  hasCounted(session: string): boolean;
  /** How many sessions of a scope may go without a lesson now. */
  sparedIn(scope: Scope): number;
  /** The last verdict about the text that a lesson has now. */
  verdict(lesson: string): EffectVerdict;
  /** Whether the test of that text has ended, also without a verdict. */
  hasEnded(lesson: string): boolean;
  /** What was decided about lessons of a kind. */
  decided(kind: string): DecidedCounts;
  usefulness(lesson: string): MeasuredUse;
}

/** Facts that effects are folded from as they come; changes of lessons come with the library. */
export const isAboutEffects = ({ type }: StoredFact['fact']): boolean =>
  type === 'session-scored' || type === 'trial-ended';

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

/** The share of sessions that go without a lesson, so that it can be measured. */
const HELD_OUT_SHARE = 0.03;
/** Sessions to be held out are saved up while nothing is tested, but not more than a person would notice. */
const MOST_SPARED = 10;

/** The measurements of one lesson. */
interface LessonRecord {
  /** The number of the fact that gave it its present text; sessions that ended before say nothing about this text. */
  since: number;
  with: OutcomeCounts;
  without: OutcomeCounts;
  scored: OutcomeCounts;
  uses: ProvenUses;
  verdict?: { readonly seq: number; readonly outcome: EffectVerdict };
}

/** Shown in one part of the session and held out in another: it belongs to neither arm. */
function armOf({ lessons, heldOut, unmeasured }: Scored, id: string): Arm {
  const isShown = lessons.includes(id);
  if (isShown === heldOut.includes(id) || unmeasured?.includes(id) === true) return 'neither';
  return isShown ? 'with' : 'without';
}

const NO_SESSIONS: LessonSessions = { with: NO_OUTCOMES, without: NO_OUTCOMES, scored: NO_OUTCOMES };

/** What the lesson's own check said of a session; undefined without a check. */
function ownOutcome({ checked = [] }: Scored, id: string): OutcomeCounts | 'does-not-apply' | undefined {
  const outcome = checked.find(({ lesson }) => lesson === id)?.outcome;
  if (outcome === undefined || outcome === 'does-not-apply') return outcome;
  return outcome === 'kept' ? { ...NO_OUTCOMES, success: 1 } : { ...NO_OUTCOMES, failure: 1 };
}

/** The verdict about the text that a lesson has now. */
const currentVerdict = (record: LessonRecord | undefined): EffectVerdict | undefined =>
  record?.verdict !== undefined && record.verdict.seq > record.since ? record.verdict.outcome : undefined;

function countVerdicts(verdicts: readonly EffectVerdict[]): DecidedCounts {
  const number = (outcome: EffectVerdict): number => verdicts.filter((one) => one === outcome).length;
  return { helpful: number('helpful'), harmful: number('harmful'), noDifference: number('no-difference') };
}

function measuredUse({ count, recent }: ProvenUses, verdict: EffectVerdict): MeasuredUse {
  const last = recent.at(-1)?.at;
  return { uses: recent, count, ...(last === undefined ? {} : { last }), isProven: verdict === 'helpful' };
}

/** The measurements of all lessons, by their ids. */
function createLessonRecords() {
  const records = new Map<string, LessonRecord>();
  const of = (id: string): LessonRecord => {
    const record = records.get(id) ?? { since: 0, ...NO_SESSIONS, uses: NO_USES };
    records.set(id, record);
    return record;
  };
  return {
    of,
    /** Undefined for a lesson of which nothing was counted. */
    find: (id: string): LessonRecord | undefined => records.get(id),
    ids: (): readonly string[] => [...records.keys()],
    verdict: (id: string): EffectVerdict => currentVerdict(records.get(id)) ?? 'unknown',
    count: (
      arm: 'with' | 'without',
      id: string,
      { scored, own = scored }: { readonly scored: OutcomeCounts; readonly own: OutcomeCounts | undefined },
      times: number,
    ): void => {
      const record = of(id);
      record[arm] = addOutcomes(record[arm], own, times);
      record.scored = addOutcomes(record.scored, scored, times);
    },
    /** The lesson has a new text since the fact of this number. */
    restart: (id: string, since: number): void => {
      const record = of(id);
      if (since > record.since) records.set(id, { ...record, ...NO_SESSIONS, since });
    },
  };
}

/** A session counts as one use of a lesson, however often it was scored. */
function addUseOnce(
  records: ReturnType<typeof createLessonRecords>,
  { used }: CountedSession,
  { id, ...use }: Use & { readonly id: string },
): void {
  if (used.has(id)) return;
  used.add(id);
  const record = records.of(id);
  record.uses = addUse(record.uses, use);
}

export function createLessonEffects(): LessonEffects {
  const records = createLessonRecords();
  const counted = createCountedSessions();
  const spared = createSparedSessions();
  const measured = createMeasuredTexts();
  let seq = 0;
  let version = 0;
  let all = NO_OUTCOMES;

  const addSession = (at: number, fact: Scored): void => {
    const key = sessionKey(fact.session);
    const isNew = !counted.has(key);
    const session = counted.open(key);
    if (session === undefined) return;
    if (isNew) spared.add(fact);
    const outcome = outcomeOf(fact);
    if (isNew || (session.outcome.silent > 0 && outcome.silent === 0)) {
      // A score after silence: what was counted as silent is counted as what it was.
      all = addOutcomes(addOutcomes(all, session.outcome, -1), outcome);
      for (const [id, { arm, own }] of session.arms)
        if (arm !== 'neither') {
          records.count(arm, id, { scored: session.outcome, own }, -1);
          records.count(arm, id, { scored: outcome, own }, 1);
        }
      session.outcome = outcome;
    }
    for (const id of new Set([...fact.lessons, ...fact.heldOut])) {
      const isShown = fact.lessons.includes(id);
      if (isShown && fact.score !== undefined && session.arms.get(id)?.arm !== 'without')
        addUseOnce(records, session, { id, at, weight: fact.score });
      if (session.arms.has(id)) continue;
      const own = ownOutcome(fact, id);
      const arm = seq > records.of(id).since && own !== 'does-not-apply' ? armOf(fact, id) : 'neither';
      const counted = own === undefined || own === 'does-not-apply' ? { arm } : { arm, own };
      session.arms.set(id, counted);
      if (arm !== 'neither') records.count(arm, id, { scored: session.outcome, own: counted.own }, 1);
    }
  };

  const addChange = (number: number, change: RecordedChange): void => {
    const id = measured.restartedBy(change, (lesson) => records.verdict(lesson) !== 'unknown');
    if (id !== undefined) records.restart(id, number);
  };

  return {
    add: ({ seq: number, at, fact }) => {
      if (fact.type === 'library-changed' || isAboutEffects(fact)) version++;
      if (fact.type === 'library-changed') for (const change of fact.changes) addChange(number, change);
      if (fact.type === 'trial-ended') {
        const id = lessonOfSubject(fact.subject);
        const outcome = fact.outcome === 'untested' ? 'unknown' : fact.outcome;
        if (id !== undefined) records.of(id).verdict = { seq: number, outcome };
      }
      if (fact.type !== 'session-scored' || number <= seq) return;
      seq = number;
      if (fact.score === undefined || (fact.score >= 0 && fact.score <= 1)) addSession(at, fact);
    },
    get seq() {
      return seq;
    },
    get version() {
      return version;
    },
    sessionsOf: (id) => records.find(id) ?? NO_SESSIONS,
    all: () => all,
    outcomeOf: (session) => counted.of(sessionKey(session))?.outcome,
    hasCounted: (session) => counted.has(sessionKey(session)),
    sparedIn: spared.in,
    verdict: records.verdict,
    hasEnded: (id) => currentVerdict(records.find(id)) !== undefined,
    decided: (kind) =>
      countVerdicts(
        records
          .ids()
          .filter((id) => measured.kindOf(id) === kind)
          .map(records.verdict),
      ),
    usefulness: (id) => measuredUse(records.find(id)?.uses ?? NO_USES, records.verdict(id)),
  };
}

type Scored = Extract<StoredFact['fact'], { readonly type: 'session-scored' }>;

/** A check sees every session alike; a person's reaction is a sign of how it came out, and so is none. */
function outcomeOf({ score, by }: Pick<Scored, 'score' | 'by'>): OutcomeCounts {
  if (score === undefined) return { ...NO_OUTCOMES, silent: 1 };
  if (by === 'check') return { ...NO_OUTCOMES, success: score, failure: 1 - score };
  return score >= WELL ? { ...NO_OUTCOMES, praise: 1 } : { ...NO_OUTCOMES, complaint: 1 };
}

/** `lesson/ID/REVISION`; an id has no slash. */
const lessonOfSubject = (subject: string): string | undefined => /^lesson\/([^/]+)\//.exec(subject)?.[1];

interface SparedSessions {
  add(fact: Scored): void;
  in(scope: Scope): number;
}

/** Every session of a person, agent and project adds its share, and one that goes without a lesson takes a whole one away. */
function createSparedSessions(): SparedSessions {
  const places = new Map<string, ReturnType<typeof placeOfSession> & { agent: string; left: number }>();
  return {
    add: ({ session, agent = '', project, heldOut }) => {
      const where = { ...placeOfSession(session, { project }), agent };
      const key = placeKey(where);
      const place = places.get(key) ?? { ...where, left: 0 };
      place.left = Math.min(MOST_SPARED, place.left + HELD_OUT_SHARE) - (heldOut.length > 0 ? 1 : 0);
      places.set(key, place);
    },
    in: (scope) => {
      let left = 0;
      for (const place of places.values()) if (isInScope(scope, place, undefined)) left += place.left;
      return Math.min(MOST_SPARED, left);
    },
  };
}

interface MeasuredTexts {
  /** The lesson of which earlier sessions say nothing any more: it has other words, or another check decides what became of it. A verdict stands. */
  restartedBy(change: RecordedChange, hasVerdict: (lesson: string) => boolean): string | undefined;
  kindOf(lesson: string): string | undefined;
}

function createMeasuredTexts(): MeasuredTexts {
  /** A hash of what each lesson says, and to whom. */
  const texts = new Map<string, string>();
  const kinds = new Map<string, string>();
  return {
    restartedBy: (change, hasVerdict) => {
      if (change.op === 'add') kinds.set(change.id, change.kind);
      if (change.op === 'check')
        return change.check?.standing === 'provisional' || hasVerdict(change.id) ? undefined : change.id;
      const id = changedTextOf(change);
      if (id === undefined) return undefined;
      const words = 'text' in change ? hashOfText(change.text) : undefined;
      const isSame = words !== undefined && texts.get(id) === words;
      if (words === undefined) texts.delete(id);
      else texts.set(id, words);
      return change.op === 'add' || isSame ? undefined : id;
    },
    kindOf: (id) => kinds.get(id),
  };
}

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
