import type { Lesson } from '../../core/lesson.ts';
import { scopesOverlap } from '../../lessons/scope.ts';
import type { PastSession, SessionArea } from '../practice/practice-history.ts';

const PERIOD_MS = 7 * 86_400_000;

/**
 * Whether a lesson is of an area that was practised since the last run: practice has compared its lessons already. An area that was
 * also practised in the week before that run is not skipped again: what is practised all the time is consolidated, too.
 */
export function createIsPractised(
  sessions: readonly PastSession[],
  lastRun: number | undefined,
): (lesson: Lesson) => boolean {
  if (lastRun === undefined) return () => false;
  const areasIn = (from: number, to: number): readonly SessionArea[] =>
    sessions
      .filter(({ at, closed }) => closed?.end === 'done' && at > from && at <= to)
      .map(({ planned }) => planned.area)
      .filter((area) => Object.values(area).some((name) => name !== undefined));
  const before = areasIn(lastRun - PERIOD_MS, lastRun).map(areaKey);
  const skipped = areasIn(lastRun, Number.POSITIVE_INFINITY).filter(
    (area) => !before.includes(areaKey(area)),
  );
  return ({ text: { scope } }) => skipped.some((area) => isWithin(scope, area) && scopesOverlap(scope, area));
}

const areaKey = ({ agent, project, domain }: SessionArea): string => JSON.stringify([agent, project, domain]);

/** A lesson for everybody is of no area. */
const isWithin = (scope: Lesson['text']['scope'], area: SessionArea): boolean =>
  (['agent', 'project', 'domain'] as const).some(
    (field) => scope[field] !== undefined && area[field] !== undefined,
  );
