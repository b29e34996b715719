import type { Change, Lesson } from '../../core/lesson.ts';
import { activationOf, type Usefulness } from '../../lessons/recall/activation.ts';
import { isFresh, type LessonFacts, whyKept, wordsSince } from './kept-lessons.ts';

const DAY_MS = 86_400_000;
/** How far above its floor a decayed activation may be. */
const MARGIN = 0.05;
const HALF_LIVES = 4;

/**
 * Retires lessons whose activation has fallen to its floor and that no successful session has used for four half-lives. They stay in
 * the record, are found by `lessons list --archived`, and come back by `lessons restore`.
 */
export function archiveDecayed(
  lessons: readonly Lesson[],
  usefulness: (id: string) => Usefulness,
  facts: LessonFacts,
): readonly Change[] {
  const { now } = facts;
  return lessons.flatMap((lesson): readonly Change[] => {
    if (whyKept(lesson, facts) !== undefined) return [];
    const uses = usefulness(lesson.id);
    if (uses.isProven) return [];
    const changedAt = wordsSince(lesson, facts);
    const last = uses.uses.reduce((newest, { at }) => Math.max(newest, at), changedAt);
    const idle = now - last;
    if (idle < HALF_LIVES * lesson.text.note.halfLifeDays * DAY_MS) return [];
    const aged = { ...lesson, changedAt };
    const above = activationOf(aged, uses, now) - activationOf(aged, uses, Number.POSITIVE_INFINITY);
    if (above > MARGIN || isFresh(lesson, facts)) return [];
    const days = Math.round(idle / DAY_MS);
    return [{ op: 'retire', id: lesson.id, reason: `${ARCHIVED} no session needed it for ${days} days` }];
  });
}

/** Begins the reason of an archived lesson. */
const ARCHIVED = 'archived:';
