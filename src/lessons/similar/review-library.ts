import { compact, type JsonObject } from '../../core/json.ts';
import { type Change, isActive, isInUse, type Lesson, PROMPT_KINDS } from '../../core/lesson.ts';
import type { EmbeddingModel } from '../../core/recall.ts';
import { encodeChange } from '../codec.ts';
import { describeTrial, isForOwner, trialOf } from '../effect/describe-trial.ts';
import type { Trials } from '../effect/fold-trials.ts';
import type { LessonEffects } from '../effect/lesson-effects.ts';
import { activationOf } from '../recall/activation.ts';
import { namesOf, pairNames } from '../title.ts';
import { isPersonsWord } from '../told.ts';
import {
  comparedText,
  eachNearPair,
  LESSON_LIKENESS,
  type LessonVectors,
  type NearLessonPair,
  ruleWords,
} from './compare.ts';
import { type Contradiction, whyContradict } from './contradictions.ts';
import { findDuplicates } from './duplicates.ts';

interface LibraryReviewOptions {
  readonly lessons: readonly Lesson[];
  readonly embed: EmbeddingModel;
  /** N-gram vectors are less similar than embeddings: another threshold applies. */
  readonly isByLetters: boolean;
  readonly effects: LessonEffects;
  readonly trials: Pick<Trials, 'of'>;
  readonly now: number;
}

/** Comparing all pairs of more lessons takes seconds; the newest are reviewed. */
const MOST = 1500;

/** What a person may want to clean up: lessons that wait, duplicates, contradictions and unused lessons. */
export async function reviewLibrary(options: LibraryReviewOptions): Promise<JsonObject> {
  const { embed, effects, now } = options;
  const active = options.lessons.filter(isActive).slice(-MOST);
  const texts = active.map((lesson) => comparedText(lesson));
  const computed = texts.length === 0 ? [] : await embed.embed(texts);
  const vectors = new Map(
    active.flatMap(({ id }, index) => {
      const vector = computed[index];
      return vector === undefined ? [] : [[id, vector] as const];
    }),
  );
  const proof = ({ id }: Lesson): number => effects.usefulness(id).count;
  const { near, contradictions } = await compareAll(active, vectors, options.isByLetters);
  const { pairs, merges } = findDuplicates(active, vectors, { proof, near });
  const forgettable = findForgettable(
    active,
    {
      activation: (lesson, at) => activationOf(lesson, effects.usefulness(lesson.id), at),
      isProven: (lesson) => effects.usefulness(lesson.id).count > 0 || effects.usefulness(lesson.id).isProven,
    },
    now,
  );
  return {
    waiting: active
      .filter(({ state }) => state === 'proposed')
      .map(({ id, text, reason }) => compact({ id, ...namesOf({ text }), reason })),
    undecided: active
      .filter(({ state }) => state === 'trial')
      .flatMap((lesson) => {
        const trial = trialOf(lesson, options.trials);
        if (trial === undefined || !isForOwner(trial)) return [];
        return [compact({ id: lesson.id, ...namesOf(lesson), reason: describeTrial(trial) })];
      }),
    same: pairs.map(({ a, b }) => ({ a: a.id, b: b.id, ...pairNames(a, b) })),
    contradictions: contradictions.map(({ a, b, why }) => ({
      a: a.id,
      b: b.id,
      ...pairNames(a, b),
      why,
    })),
    forgettable: forgettable.flatMap((change) =>
      change.op === 'retire'
        ? [{ id: change.id, ...namesOf(active.find(({ id }) => id === change.id)), reason: change.reason }]
        : [],
    ),
    changes: [...merges, ...forgettable].map(encodeChange),
  };
}

/** The longest that comparing keeps others of this thread waiting. */
const SLICE_MS = 10;

/** All pairs, in slices: this may run in the thread that serves. */
async function compareAll(
  lessons: readonly Lesson[],
  vectors: LessonVectors,
  isByLetters: boolean,
): Promise<{ readonly near: readonly NearLessonPair[]; readonly contradictions: readonly Contradiction[] }> {
  const topic = LESSON_LIKENESS.topic[isByLetters ? 'letters' : 'sentence'];
  const near: NearLessonPair[] = [];
  const contradictions: Contradiction[] = [];
  let until = performance.now() + SLICE_MS;
  for (const pair of eachNearPair(lessons, vectors, Math.min(topic, LESSON_LIKENESS.same))) {
    if (pair !== undefined) {
      if (pair.similarity >= LESSON_LIKENESS.same) near.push(pair);
      const why = pair.similarity < topic ? undefined : whyContradict(ruleWords(pair.a), ruleWords(pair.b));
      if (why !== undefined) contradictions.push({ ...pair, why });
    }
    if (performance.now() < until) continue;
    await new Promise((resolve) => setImmediate(resolve));
    until = performance.now() + SLICE_MS;
  }
  return { near, contradictions };
}

/** The activation of lessons, and which ones proved useful. */
interface LessonPresence {
  /** 0 to 1; for `now` = infinity the floor of the lesson. */
  activation(lesson: Lesson, now: number): number;
  /** Whether a session with it was successful, or it was measured to help. */
  isProven(lesson: Lesson): boolean;
}

/** The distance from the floor that counts as reached: with a floor of 0.3, after four and a half half-lives. */
const MARGIN = 0.03;

/**
 * Changes that retire unused lessons: those at the floor of their activation that never proved useful. They are not deleted
 * and can be moved back. Pinned and frozen lessons and a person's words stay, and kinds that no prompt shows, since they could not prove useful.
 */
export function findForgettable(
  lessons: readonly Lesson[],
  { activation, isProven }: LessonPresence,
  now: number,
): readonly Change[] {
  const isForgotten = (lesson: Lesson): boolean =>
    isInUse(lesson) &&
    PROMPT_KINDS.has(lesson.kind) &&
    !lesson.pinned &&
    !lesson.frozen &&
    !isPersonsWord(lesson) &&
    !isProven(lesson) &&
    activation(lesson, now) - activation(lesson, Number.POSITIVE_INFINITY) <= MARGIN;
  return lessons.filter(isForgotten).map(({ id, changedAt }) => ({
    op: 'retire',
    id,
    reason: `forgotten: never proved useful in the ${Math.round((now - changedAt) / DAY_MS)} days since it last changed`,
  }));
}

const DAY_MS = 86_400_000;
