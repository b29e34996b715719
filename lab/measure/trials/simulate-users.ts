import { createRandom } from '../../../src/base/random.ts';
import type { StoredFact } from '../../../src/core/fact.ts';
import type { Lesson } from '../../../src/core/lesson.ts';
import type { TrialOutcome } from '../../../src/core/trial.ts';
import { decideTrials, TEST_DAYS, trialSubject } from '../../../src/learn/trial/decide-trials.ts';
import { createLibraryHoldout } from '../../../src/lessons/effect/hold-out.ts';
import { createLessonEffects, type LessonEffects } from '../../../src/lessons/effect/lesson-effects.ts';
import { RELEVANCE } from '../../../src/lessons/recall/relevance.ts';
import { selectLessons } from '../../../src/lessons/recall/select-lessons.ts';
import { addOutcomes, NO_OUTCOMES, type OutcomeCounts } from '../../../src/stats/effect-posterior.ts';
import { scriptedText } from './known-effects.ts';

/** People who work with an agent, and one lesson of theirs with a known effect. */
export interface UserWorld {
  /** Differences of success rates, in points of 100 divided by 100. */
  readonly effect: number;
  /** Days of work before the lesson was written. */
  readonly daysBefore: number;
  /** How probable a reaction is after success and after failure; the rest is silence. */
  readonly reactions: {
    readonly success: { readonly praise: number; readonly complaint: number };
    readonly failure: { readonly praise: number; readonly complaint: number };
  };
  /** Points by which work without the lesson succeeds more often from the day of the lesson on: a better model, say. */
  readonly drift?: number;
}

/** About half of all sessions are silent at a success rate of one half. */
export const HALF_SILENT: UserWorld['reactions'] = {
  success: { praise: 0.4, complaint: 0.03 },
  failure: { praise: 0.03, complaint: 0.57 },
};

export interface UserResult {
  readonly outcome: TrialOutcome;
  /** Since the lesson was written. */
  readonly days: number;
  /** Sessions that went without the lesson, and all sessions, those before it included. */
  readonly heldOut: number;
  readonly sessions: number;
  /** Sessions that went without the rule that the person told: must be 0. */
  readonly toldWithheld: number;
}

const SESSIONS_A_DAY = 10;
const FITTING = 0.2;
/** How often sessions succeed that the lesson does not fit. */
const OTHERS = 0.55;
const DAY_MS = 86_400_000;
const START = 1_700_000_000_000;

const lessonOf = (id: string, source: 'practice' | 'told'): Lesson => {
  const text = scriptedText(id);
  return {
    id,
    kind: 'skill',
    state: 'trial',
    revision: 1,
    text: { ...text, scope: {}, note: { ...text.note, source } },
    pinned: false,
    frozen: false,
    createdAt: START,
    changedAt: START,
  };
};

const INFERRED = lessonOf('inferred', 'practice');
const TOLD = lessonOf('told', 'told');

/** One person from the first day of the lesson to its verdict, through the fold, the hold-out, the selection and the verdict that a daemon runs. */
export function simulateUser(world: UserWorld, seed: string): UserResult {
  const random = createRandom(seed);
  const effects = createLessonEffects();
  const library = {
    lessons: () => [INFERRED, TOLD],
    lesson: (id: string) => [INFERRED, TOLD].find((one) => one.id === id),
    generation: 1,
  };
  const holdout = createLibraryHoldout(library, effects);
  const chances = { random, base: drawBase(world, random.next()), world };
  const before = workBefore(chances, effects, seed);
  let [sessions, heldOut, toldWithheld] = [world.daysBefore * SESSIONS_A_DAY, 0, 0];
  const trial = {
    lesson: INFERRED,
    record: {
      subject: trialSubject(INFERRED),
      place: 1,
      openedAt: START,
      until: START + TEST_DAYS * DAY_MS,
      before,
      differences: { tasks: new Map(), replay: new Map() },
      begun: { tasks: 0, replay: 0 },
      used: { calls: 0, tokens: 0, usd: 0, unpriced: 0, ms: 0 },
    },
  };
  for (let day = 1; ; day++) {
    for (let at = 0; at < SESSIONS_A_DAY; at++) {
      const session = `${seed}/${day}/${at}`;
      const chosen =
        random.next() < FITTING ? select((lesson) => holdout.lotOf({ session }, lesson)) : undefined;
      const isOut = chosen?.heldOut.includes(INFERRED.id) === true;
      const rate =
        chosen === undefined ? OTHERS : chances.base + (world.drift ?? 0) + (isOut ? 0 : world.effect);
      effects.add(endedSession(effects, { session, chosen, outcome: react(rate, chances) }));
      sessions++;
      if (isOut) heldOut++;
      if (chosen !== undefined && !chosen.lessons.includes(TOLD.id)) toldWithheld++;
    }
    const [verdict] = decideTrials([trial], effects, START + day * DAY_MS);
    if (verdict !== undefined)
      return { outcome: verdict.outcome, days: day, heldOut, sessions, toldWithheld };
  }
}

interface Chances {
  readonly random: { next(): number };
  /** How often fitting sessions succeed without the lesson. */
  readonly base: number;
  readonly world: UserWorld;
}

/** Between 10 and 70 of 100, as far as the effect fits in. */
function drawBase({ effect, drift = 0 }: UserWorld, share: number): number {
  const low = Math.max(0.1, 0.05 - effect - drift);
  const high = Math.min(0.7, 0.95 - effect - drift);
  return low + share * Math.max(0, high - low);
}

/** The record from before the lesson; answers with how those sessions came out that it would have fitted. */
function workBefore(chances: Chances, effects: LessonEffects, seed: string): OutcomeCounts {
  let fitting = NO_OUTCOMES;
  for (let at = 0; at < chances.world.daysBefore * SESSIONS_A_DAY; at++) {
    const session = `${seed}/before/${at}`;
    const isFitting = chances.random.next() < FITTING;
    effects.add(
      endedSession(effects, { session, outcome: react(isFitting ? chances.base : OTHERS, chances) }),
    );
    const outcome = effects.outcomeOf(session);
    if (isFitting && outcome !== undefined) fitting = addOutcomes(fitting, outcome);
  }
  return fitting;
}

/** 1 for praise, 0 for a complaint, undefined for silence. */
function react(rate: number, { random, world }: Chances): number | undefined {
  const { praise, complaint } = world.reactions[random.next() < rate ? 'success' : 'failure'];
  const draw = random.next();
  return draw < praise ? 1 : draw < praise + complaint ? 0 : undefined;
}

interface Chosen {
  readonly lessons: readonly string[];
  readonly heldOut: readonly string[];
}

/** Recall of a task that both lessons fit, by the selection that the gateway runs. */
function select(lotOf: (lesson: string) => 'shown' | 'held-out'): Chosen {
  const candidates = [INFERRED, TOLD].map((lesson, slot) => ({
    lesson,
    slot,
    evidence: 3,
    activation: 1,
    isKept: true,
    isGuideline: true,
    isDue: false,
    isInScope: true,
  }));
  const chosen = selectLessons(
    candidates,
    { topK: 6, tokenBudget: 1500 },
    { lotOf, areAlike: () => false, weights: RELEVANCE },
  );
  return { lessons: chosen.lessons.map(({ id }) => id), heldOut: chosen.heldOut };
}

function endedSession(
  { seq }: LessonEffects,
  ended: {
    readonly session: string;
    readonly chosen?: Chosen | undefined;
    readonly outcome: number | undefined;
  },
): StoredFact {
  const { session, chosen = { lessons: [], heldOut: [] }, outcome } = ended;
  return {
    seq: seq + 1,
    at: START + seq,
    fact: {
      type: 'session-scored',
      session,
      agent: 'cody',
      ...chosen,
      ...(outcome === undefined ? {} : { score: outcome, by: 'people' }),
    },
  };
}
