import type { Change, Lesson } from '../../core/lesson.ts';
import { trialFigures } from '../../lessons/effect/describe-trial.ts';
import type { Trials } from '../../lessons/effect/fold-trials.ts';
import { activationOf, type Usefulness } from '../../lessons/recall/activation.ts';
import { isPersonsWord } from '../../lessons/told.ts';
import { isFresh, type LessonFacts, lastReturn, whyKept, wordsSince } from './kept-lessons.ts';
import { type MemoryQuestion, retestOf, retestsOf } from './open-questions.ts';

const DAY_MS = 86_400_000;
/** How far above its floor a decayed activation may be. */
const MARGIN = 0.05;
const HALF_LIVES = 4;
/** With more lessons in use than this less is enough, the least active first, until so many are left: recall searches a thousand in a millisecond or two. */
export const MOST_IN_USE = 1000;
const CROWDED_HALF_LIVES = 2;
/** Begins the reason of an archived lesson. */
const ARCHIVED = 'archived:';

export const isArchived = ({ state, reason }: Pick<Lesson, 'state' | 'reason'>): boolean =>
  state === 'retired' && reason?.startsWith(ARCHIVED) === true;

export interface DecayedLesson {
  readonly change: Extract<Change, { readonly op: 'retire' }>;
  /** Present while nothing was measured since it was used last: attempts can tell whether it still helps. */
  readonly question?: MemoryQuestion;
}

interface DecayInput {
  readonly lessons: readonly Lesson[];
  readonly usefulness: (id: string) => Usefulness;
  readonly trials: Pick<Trials, 'of'>;
  readonly facts: LessonFacts;
  readonly mostInUse: number;
}

/**
 * Retires lessons whose activation has fallen to its floor and that no successful session has used for four half-lives; in a crowded
 * library for two. A re-test that showed that a lesson helps counts as a use. What is retired stays in the record, is found by `lessons
 * list --archived`, and comes back by `lessons restore`, or when somebody asks about it. A person's word does not decay.
 */
export function archiveDecayed({
  lessons,
  usefulness,
  trials,
  facts,
  mostInUse,
}: DecayInput): readonly DecayedLesson[] {
  const unused = lessons.flatMap((lesson) => {
    if (isPersonsWord(lesson) || whyKept(lesson, facts) !== undefined) return [];
    const idle = idleness(lesson, usefulness(lesson.id), trials, facts);
    return idle === undefined ? [] : [{ lesson, ...idle }];
  });
  const decayed = unused.filter(({ isDecayed }) => isDecayed);
  const room = lessons.length - decayed.length - mostInUse;
  const crowded = unused
    .filter(({ isDecayed }) => !isDecayed)
    .sort((a, b) => a.activation - b.activation || (a.lesson.id < b.lesson.id ? -1 : 1))
    .slice(0, Math.max(0, room));
  return [...decayed, ...crowded].map(({ lesson, last }) => {
    const record = retestsOf(lesson, trials).at(-1);
    const isTested = record?.end !== undefined && record.end.at > last;
    const days = Math.round((facts.now - last) / DAY_MS);
    const tested =
      isTested && record.end?.outcome !== 'untested'
        ? `, and attempts did no better with it: ${trialFigures(record)}`
        : '';
    return {
      change: {
        op: 'retire',
        id: lesson.id,
        reason: `${ARCHIVED} no session needed it for ${days} days${tested}`,
      },
      ...(isTested ? {} : { question: retestOf(lesson, trials, last) }),
    };
  });
}

/** Undefined for a lesson that was used, told or changed lately, or has proven itself. */
function idleness(
  lesson: Lesson,
  uses: Usefulness,
  trials: Pick<Trials, 'of'>,
  facts: LessonFacts,
): { readonly last: number; readonly activation: number; readonly isDecayed: boolean } | undefined {
  if (uses.isProven) return undefined;
  const { now } = facts;
  const changedAt = wordsSince(lesson, facts);
  const helped =
    retestsOf(lesson, trials).findLast(({ end }) => end?.outcome === 'helpful')?.end?.at ?? changedAt;
  const returned = lastReturn(lesson.id, facts) ?? changedAt;
  const last = uses.uses.reduce(
    (newest, { at }) => Math.max(newest, at),
    Math.max(changedAt, helped, returned),
  );
  const halfLives = (now - last) / DAY_MS / lesson.text.note.halfLifeDays;
  if (halfLives < CROWDED_HALF_LIVES || isFresh(lesson, facts)) return undefined;
  const aged = { ...lesson, changedAt };
  const activation = activationOf(aged, uses, now);
  const above = activation - activationOf(aged, uses, Number.POSITIVE_INFINITY);
  return { last, activation, isDecayed: halfLives >= HALF_LIVES && above <= MARGIN };
}
