import { type Change, type Lesson, PROMPT_KINDS } from '../../core/lesson.ts';

/** How present lessons are, and which were ever of use. */
export interface Presence {
  /** 0 to 1; as `now` goes to infinity it falls to a floor of the lesson's own. */
  activation(lesson: Lesson, now: number): number;
  /** Whether a session with it ever came out well, or it was measured to help. */
  isProven(lesson: Lesson): boolean;
}

/** So near to the floor is at it: with a floor of 0.3, after four and a half half-lives. */
const MARGIN = 0.03;

/**
 * Changes that retire what nobody needed: lessons at the floor of their activation that never proved useful. Archived, not
 * deleted; one that is wanted is moved back. Pinned and frozen ones are left, and those of kinds that no prompt shows,
 * since they had no chance to prove themselves.
 */
export function findForgettable(
  lessons: readonly Lesson[],
  { activation, isProven }: Presence,
  now: number,
): readonly Change[] {
  const isForgotten = (lesson: Lesson): boolean =>
    (lesson.state === 'trial' || lesson.state === 'live') &&
    PROMPT_KINDS.has(lesson.kind) &&
    !lesson.pinned &&
    !lesson.frozen &&
    !isProven(lesson) &&
    activation(lesson, now) - activation(lesson, Number.POSITIVE_INFINITY) <= MARGIN;
  return lessons.filter(isForgotten).map(({ id, changedAt }) => ({
    op: 'retire',
    id,
    reason: `forgotten: never proved useful in the ${Math.round((now - changedAt) / DAY_MS)} days since it last changed`,
  }));
}

const DAY_MS = 86_400_000;
