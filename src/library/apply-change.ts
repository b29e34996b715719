import { isDeepStrictEqual } from 'node:util';
import { compact } from '../core/json.ts';
import type { Author, Change, ChangeResult, Lesson, LessonState, LessonText } from '../core/lesson.ts';
import { isActive } from './lesson-place.ts';
import { targetOf } from './read-change.ts';
import type { ShelfView } from './shelf-view.ts';
import { whyNotBy } from './who-may.ts';

export interface Applied {
  readonly result: ChangeResult;
  /** The lessons that differ afterwards; empty unless the change was applied. */
  readonly lessons: readonly Lesson[];
}

const MOVES: Readonly<Record<LessonState, readonly LessonState[]>> = {
  proposed: ['trial', 'live', 'rejected'],
  trial: ['live', 'rejected', 'proposed'],
  live: ['trial', 'proposed'],
  retired: ['proposed', 'trial', 'live'],
  rejected: ['proposed'],
};

/** Pure, total and idempotent: applied a second time, a change is `same` or refused. */
export function applyChange(view: ShelfView, change: Change, by: Author, at: number): Applied {
  const id = targetOf(change);
  const after = lessonsAfter(view, change, at);
  const refuse = (why: string): Applied => ({ result: { status: 'refused', id, why }, lessons: [] });
  if (typeof after === 'string') return refuse(after);
  const lessons = after.filter((lesson) => lesson !== view.lesson(lesson.id));
  if (lessons.length === 0) return { result: { status: 'same', id }, lessons };
  const why = whyNotBy(by, view, lessons);
  if (why !== undefined) return refuse(why);
  const revision = after.find((lesson) => lesson.id === id)?.revision ?? 0;
  return { result: { status: 'applied', id, revision }, lessons };
}

/** The lessons of a change after it, as the same object where one is unchanged; or why it cannot be applied. */
function lessonsAfter(view: ShelfView, change: Change, at: number): readonly Lesson[] | string {
  if (change.op === 'add') return added(view, change, at);
  const lesson = view.lesson(targetOf(change));
  if (lesson === undefined) return `no lesson with id ${targetOf(change)}`;
  switch (change.op) {
    case 'revise':
      return revised(lesson, change.from, change.text, at);
    case 'merge':
      return merged(view, lesson, change, at);
    case 'retire':
      if (lesson.state === 'retired') return [lesson];
      if (lesson.state === 'rejected') return `${lesson.id} was rejected: it cannot be retired`;
      return [withState(lesson, 'retired', at, { reason: change.reason })];
    case 'move':
      return moved(lesson, change, at);
    case 'mark': {
      const { pinned = lesson.pinned, frozen = lesson.frozen } = change;
      if (pinned === lesson.pinned && frozen === lesson.frozen) return [lesson];
      return [{ ...lesson, pinned, frozen, changedAt: at }];
    }
    case 'expire': {
      const { expiresAt } = change;
      return expiresAt === lesson.expiresAt ? [lesson] : [compact({ ...lesson, expiresAt, changedAt: at })];
    }
    case 'restore':
      return restored(view, lesson, change, at);
  }
}

type Of<Op extends Change['op']> = Extract<Change, { op: Op }>;

function added(view: ShelfView, change: Of<'add'>, at: number): readonly Lesson[] | string {
  const { id, kind, state, text, expiresAt } = change;
  const existing = view.lesson(id);
  if (existing !== undefined) {
    if (existing.kind === kind && isDeepStrictEqual(existing.text, text)) return [existing];
    return `${id} exists already with another text: revise it, or add this one under another id`;
  }
  const lesson: Lesson = {
    id,
    kind,
    state,
    revision: 1,
    text,
    pinned: false,
    frozen: false,
    createdAt: at,
    changedAt: at,
    ...(expiresAt === undefined ? undefined : { expiresAt }),
  };
  return [lesson];
}

function revised(lesson: Lesson, from: number, text: LessonText, at: number): readonly Lesson[] | string {
  if (isDeepStrictEqual(lesson.text, text)) return [lesson];
  if (!isActive(lesson.state)) return `${lesson.id} is ${lesson.state}: reactivate it before revising it`;
  if (lesson.revision !== from)
    return `${lesson.id} is at revision ${lesson.revision}, not ${from}: read the current revision and revise that`;
  return [{ ...lesson, revision: lesson.revision + 1, text, changedAt: at }];
}

function merged(view: ShelfView, into: Lesson, change: Of<'merge'>, at: number): readonly Lesson[] | string {
  const ids = new Set(change.ids);
  if (ids.size < 2) return 'a merge needs two different lessons or more';
  if (!ids.delete(into.id)) return `${into.id} must be one of the merged lessons`;
  const others: Lesson[] = [];
  for (const id of ids) {
    const other = view.lesson(id);
    if (other === undefined) return `no lesson with id ${id}`;
    const isDone = other.state === 'retired' && other.mergedInto === into.id;
    if (!isDone && !isActive(other.state))
      return `${id} is ${other.state}: only active lessons can be merged`;
    const reason = `merged into ${into.id}`;
    others.push(isDone ? other : withState(other, 'retired', at, { reason, mergedInto: into.id }));
  }
  if (!isActive(into.state) && others.some((other) => other !== view.lesson(other.id)))
    return `${into.id} is ${into.state}: only active lessons can be merged`;
  const kept = revised(into, change.from, change.text, at);
  return typeof kept === 'string' ? kept : [...kept, ...others];
}

function moved(lesson: Lesson, { to, reason }: Of<'move'>, at: number): readonly Lesson[] | string {
  if (lesson.state === to) return [lesson];
  const allowed = MOVES[lesson.state];
  if (!allowed.includes(to))
    return `${lesson.id} is ${lesson.state} and cannot become ${to}, only ${allowed.join(' or ')}`;
  const because = to === 'rejected' && reason !== undefined ? { reason } : undefined;
  return [withState(lesson, to, at, because)];
}

function restored(
  view: ShelfView,
  lesson: Lesson,
  change: Of<'restore'>,
  at: number,
): readonly Lesson[] | string {
  const { revision, state } = change;
  const text = view.text(lesson.id, revision);
  if (text === undefined) return `${lesson.id} has no revision ${revision}`;
  if (!view.wasEver(lesson.id, state)) return `${lesson.id} was never ${state}`;
  const after = lesson.state === state ? lesson : withState(lesson, state, at);
  if (isDeepStrictEqual(lesson.text, text)) return [after];
  return [{ ...after, revision: lesson.revision + 1, text, changedAt: at }];
}

/** In another state; the reason and `mergedInto` of the old state are dropped. */
function withState(
  lesson: Lesson,
  state: LessonState,
  at: number,
  because?: Pick<Lesson, 'reason' | 'mergedInto'>,
): Lesson {
  const { id, kind, revision, text, pinned, frozen, createdAt, expiresAt } = lesson;
  const end = expiresAt === undefined ? undefined : { expiresAt };
  return { id, kind, state, revision, text, pinned, frozen, createdAt, changedAt: at, ...end, ...because };
}
