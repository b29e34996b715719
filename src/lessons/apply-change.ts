import { isDeepStrictEqual } from 'node:util';
import { compact } from '../core/json.ts';
import {
  type Author,
  type Change,
  type ChangeResult,
  isActive,
  type Lesson,
  type LessonState,
  type LessonText,
} from '../core/lesson.ts';
import { type LibraryView, uniqueKeyOf, whyKeptForPerson, whyNotPermitted } from './change-permissions.ts';
import { changedLessonId, type RefusedChange } from './codec.ts';

interface AppliedChange {
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
export function applyChange(view: LibraryView, change: Change, by: Author, at: number): AppliedChange {
  const id = changedLessonId(change);
  const done = lessonsAfter(view, change, at);
  const refuse = (why: string): AppliedChange => ({ result: { status: 'refused', id, why }, lessons: [] });
  if (!done.ok) return refuse(done.why);
  const lessons = done.after.filter((lesson) => lesson !== view.lesson(lesson.id));
  if (lessons.length === 0) return { result: { status: 'same', id }, lessons };
  const why = whyNotPermitted(by, view, lessons);
  if (why !== undefined) return refuse(why);
  const revision = done.after.find((lesson) => lesson.id === id)?.revision ?? 0;
  return { result: { status: 'applied', id, revision }, lessons };
}

/** The lessons of a change after it, as the same object where one is unchanged; or why it cannot be applied. */
type After =
  | { readonly ok: true; readonly after: readonly Lesson[] }
  | { readonly ok: false; readonly why: string };

const becomes = (...after: readonly Lesson[]): After => ({ ok: true, after });
const refused = (why: string): After => ({ ok: false, why });

function lessonsAfter(view: LibraryView, change: Change, at: number): After {
  if (change.op === 'add') return added(view, change, at);
  const lesson = view.lesson(changedLessonId(change));
  if (lesson === undefined) return refused(`no lesson with id ${changedLessonId(change)}`);
  switch (change.op) {
    case 'revise':
      return revised(lesson, change, at);
    case 'merge':
      return merged(view, lesson, change, at);
    case 'retire':
      if (lesson.state === 'retired') return becomes(lesson);
      if (lesson.state === 'rejected') return refused(`${lesson.id} was rejected: it cannot be retired`);
      if (change.supersededBy !== undefined && !isInUse(view.lesson(change.supersededBy)?.state))
        return refused(`${change.supersededBy} is not in use: ${lesson.id} does not make room for it`);
      return becomes(
        withState(
          lesson,
          'retired',
          at,
          compact({ reason: change.reason, supersededBy: change.supersededBy }),
        ),
      );
    case 'move':
      return moved(lesson, change, at);
    case 'mark': {
      const { pinned = lesson.pinned, frozen = lesson.frozen } = change;
      if (pinned === lesson.pinned && frozen === lesson.frozen) return becomes(lesson);
      return becomes({ ...lesson, pinned, frozen, changedAt: at });
    }
    case 'check':
      if (isDeepStrictEqual(change.check, lesson.check)) return becomes(lesson);
      return becomes(compact({ ...lesson, check: change.check, changedAt: at }));
    case 'expire': {
      const { expiresAt } = change;
      return becomes(
        expiresAt === lesson.expiresAt ? lesson : compact({ ...lesson, expiresAt, changedAt: at }),
      );
    }
    case 'restore':
      return restored(view, lesson, change, at);
  }
}

const isInUse = (state: LessonState | undefined): boolean => state === 'trial' || state === 'live';

type Of<Op extends Change['op']> = Extract<Change, { op: Op }>;

function added(view: LibraryView, change: Of<'add'>, at: number): After {
  const { id, kind, state, text, expiresAt, check, reason } = change;
  const existing = view.lesson(id);
  if (existing !== undefined) {
    if (existing.kind === kind && isDeepStrictEqual(existing.text, text)) return becomes(existing);
    return refused(`${id} exists already with another text: revise it, or add this one under another id`);
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
    ...(check === undefined ? undefined : { check }),
    ...(reason === undefined ? undefined : { reason }),
  };
  return becomes(lesson);
}

function revised(
  lesson: Lesson,
  { from, text, reason }: { readonly from: number; readonly text: LessonText; readonly reason?: string },
  at: number,
): After {
  if (isDeepStrictEqual(lesson.text, text)) return becomes(lesson);
  if (!isActive(lesson)) return refused(`${lesson.id} is ${lesson.state}: reactivate it before revising it`);
  if (lesson.revision !== from)
    return refused(
      `${lesson.id} is at revision ${lesson.revision}, not ${from}: read the current revision and revise that`,
    );
  // The reason for which a lesson waits is about its text.
  return becomes(compact({ ...withText(lesson, text), changedAt: at, reason }));
}

function merged(view: LibraryView, into: Lesson, change: Of<'merge'>, at: number): After {
  const ids = new Set(change.ids);
  if (ids.size < 2) return refused('a merge needs two different lessons or more');
  if (!ids.delete(into.id)) return refused(`${into.id} must be one of the merged lessons`);
  const others: Lesson[] = [];
  for (const id of ids) {
    const other = view.lesson(id);
    if (other === undefined) return refused(`no lesson with id ${id}`);
    const isDone = other.state === 'retired' && other.mergedInto === into.id;
    if (!isDone && !isActive(other))
      return refused(`${id} is ${other.state}: only active lessons can be merged`);
    const reason = `merged into ${into.id}`;
    others.push(isDone ? other : withState(other, 'retired', at, { reason, mergedInto: into.id }));
  }
  if (!isActive(into) && others.some((other) => other !== view.lesson(other.id)))
    return refused(`${into.id} is ${into.state}: only active lessons can be merged`);
  const { from, text } = change;
  const survivor = revised(into, { from, text }, at);
  return survivor.ok ? becomes(...survivor.after, ...others) : survivor;
}

function moved(lesson: Lesson, { to, reason }: Of<'move'>, at: number): After {
  if (lesson.state === to) return becomes(lesson);
  const allowed = MOVES[lesson.state];
  if (!allowed.includes(to))
    return refused(`${lesson.id} is ${lesson.state} and cannot become ${to}, only ${allowed.join(' or ')}`);
  const isExplained = to === 'rejected' || to === 'proposed';
  const because = isExplained && reason !== undefined ? { reason } : undefined;
  return becomes(withState(lesson, to, at, because));
}

function restored(view: LibraryView, lesson: Lesson, change: Of<'restore'>, at: number): After {
  const { revision, state } = change;
  const text = view.text(lesson.id, revision);
  if (text === undefined) return refused(`${lesson.id} has no revision ${revision}`);
  if (!view.wasEver(lesson.id, state)) return refused(`${lesson.id} was never ${state}`);
  const after = lesson.state === state ? lesson : withState(lesson, state, at);
  if (isDeepStrictEqual(lesson.text, text)) return becomes(after);
  return becomes({ ...withText(after, text), changedAt: at });
}

/** Another revision. A check belongs to the words of the rule: other words end it. */
function withText(lesson: Lesson, text: LessonText): Lesson {
  const { check, ...rest } = lesson;
  const isSameRule = check !== undefined && lesson.text.description === text.description;
  return { ...rest, revision: lesson.revision + 1, text, ...(isSameRule ? { check } : undefined) };
}

/** In another state; what explained the old state is dropped. */
function withState(
  lesson: Lesson,
  state: LessonState,
  at: number,
  because?: Pick<Lesson, 'reason' | 'mergedInto' | 'supersededBy'>,
): Lesson {
  const { id, kind, revision, text, pinned, frozen, createdAt, expiresAt, check } = lesson;
  const rest = compact({ expiresAt, check });
  return { id, kind, state, revision, text, pinned, frozen, createdAt, changedAt: at, ...rest, ...because };
}

/** One change that took effect in a draft. */
export interface DraftStep {
  readonly change: Change;
  readonly result: ChangeResult;
  readonly lessons: readonly Lesson[];
}

/** A change set applied to a view of the library, which is not modified. */
export interface ChangeSetDraft {
  apply(change: Change | RefusedChange): ChangeResult;
  readonly steps: readonly DraftStep[];
  /** The lessons that differ from the library's, by id. */
  readonly changed: ReadonlyMap<string, Lesson>;
}

/**
 * Each change sees the effect of the changes before it. The cost grows with the changes, not with the library. `isRecorded`: it was
 * published, perhaps by an earlier version, and is not judged again by rules that came later.
 */
export function createChangeSetDraft(
  base: LibraryView,
  by: Author,
  at: number,
  isRecorded = false,
): ChangeSetDraft {
  const changed = new Map<string, Lesson>();
  const places = new Map<string, string>();
  const steps: DraftStep[] = [];

  /** A version of a lesson that one of the previous changes made. */
  const version = (id: string, is: (lesson: Lesson) => boolean): Lesson | undefined => {
    if (!changed.has(id)) return undefined;
    return steps.flatMap(({ lessons }) => lessons).find((lesson) => lesson.id === id && is(lesson));
  };
  const view: LibraryView = {
    lesson: (id) => changed.get(id) ?? base.lesson(id),
    text: (id, revision) =>
      base.text(id, revision) ?? version(id, (lesson) => lesson.revision === revision)?.text,
    wasEver: (id, state) =>
      base.wasEver(id, state) || version(id, (lesson) => lesson.state === state) !== undefined,
    holder: (place) => {
      const here = places.get(place);
      const there = here === undefined ? base.holder(place) : undefined;
      // The library's key of a lesson that this draft changed is out of date.
      return there === undefined || changed.has(there) ? here : there;
    },
  };
  const put = (lesson: Lesson): void => {
    const before = changed.get(lesson.id);
    const left = before && uniqueKeyOf(before.text);
    if (left !== undefined && places.get(left) === lesson.id) places.delete(left);
    if (isActive(lesson)) places.set(uniqueKeyOf(lesson.text), lesson.id);
    changed.set(lesson.id, lesson);
  };

  return {
    steps,
    changed,
    apply: (change) => {
      if (!('op' in change)) return change;
      const { result, lessons } = applyChange(view, change, by, at);
      const why = isRecorded ? undefined : whyKeptForPerson(by, view, change, lessons);
      if (why !== undefined) return { status: 'refused', id: result.id, why };
      for (const lesson of lessons) put(lesson);
      if (result.status === 'applied') steps.push({ change, result, lessons });
      return result;
    },
  };
}
