import { type Change, type Lesson, PROMPT_KINDS } from '../../core/lesson.ts';

/** The activation of lessons, and which ones proved useful. */
export interface Presence {
  /** 0 to 1; for `now` = infinity the floor of the lesson. */
  activation(lesson: Lesson, now: number): number;
  /** Whether a session with it was successful, or it was measured to help. */
  isProven(lesson: Lesson): boolean;
}

/** The distance from the floor that counts as reached: with a floor of 0.3, after four and a half half-lives. */
const MARGIN = 0.03;

/**
 * Changes that retire unused lessons: those at the floor of their activation that never proved useful. They are not deleted
 * and can be moved back. Pinned and frozen lessons stay, and kinds that no prompt shows, since they could not prove useful.
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
