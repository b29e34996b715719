import { isDeepStrictEqual } from 'node:util';
import type { Author, Change, LessonKind, LessonState, LessonText } from '../../../src/core/lesson.ts';

/** A lesson in the model: all its revisions and states, in plain lists. */
export interface ModelLesson {
  kind: LessonKind;
  state: LessonState;
  texts: LessonText[];
  pinned: boolean;
  frozen: boolean;
  expiresAt?: number | undefined;
  mergedInto?: string | undefined;
  states: LessonState[];
  events: number;
}

export type Status = 'applied' | 'same' | 'refused';
type Lessons = Map<string, ModelLesson>;

/** The set that prompts may contain: revision number and text, by id. */
type Shown = Map<string, { readonly revision: number; readonly text: LessonText }>;

/** A library in memory that copies itself for each change and stores each generation in full. */
export interface Model {
  lessons: Lessons;
  /** By generation. */
  shown: Shown[];
  /** The sets that took effect, with their results. */
  published: Map<string, { readonly statuses: readonly Status[]; readonly generation: number }>;
}

export const newModel = (): Model => ({ lessons: new Map(), shown: [new Map()], published: new Map() });

/** Applies a set and returns the result of each change. */
export function publishTo(
  model: Model,
  id: string,
  by: Author,
  changes: readonly Change[],
): readonly Status[] {
  const known = model.published.get(id);
  if (known !== undefined) return known.statuses;
  const statuses = changes.map((change): Status => {
    const copy = structuredClone(model.lessons);
    const status = attempt(copy, change, by);
    if (status === 'applied') model.lessons = copy;
    return status;
  });
  if (!statuses.includes('applied')) return statuses;
  const now = shownOf(model.lessons);
  const revisions = (shown: Shown | undefined) =>
    [...(shown ?? [])].map(([name, { revision }]) => [name, revision]);
  if (!isDeepStrictEqual(revisions(now), revisions(model.shown.at(-1)))) model.shown.push(now);
  model.published.set(id, { statuses, generation: model.shown.length - 1 });
  return statuses;
}

export function shownOf(lessons: Lessons): Shown {
  const inPrompts = [...lessons].filter(
    ([, { kind, state }]) => ['live', 'trial'].includes(state) && !['route', 'limit', 'flow'].includes(kind),
  );
  const sorted = inPrompts.sort(([a], [b]) => (a < b ? -1 : 1));
  return new Map(sorted.map(([id, lesson]) => [id, { revision: lesson.texts.length, text: textOf(lesson) }]));
}

export function textOf({ texts }: ModelLesson): LessonText {
  const newest = texts.at(-1);
  if (newest === undefined) throw new Error('a lesson without words');
  return newest;
}

const WAYS: Readonly<Record<string, string>> = {
  proposed: 'trial live rejected',
  trial: 'live rejected proposed',
  live: 'trial proposed',
  retired: 'proposed trial live',
  rejected: 'proposed',
};

const isGone = ({ state }: ModelLesson): boolean => ['retired', 'rejected'].includes(state);

/** Modifies `lessons` in place; the modification counts only with the result `applied`. */
function attempt(lessons: Lessons, change: Change, by: Author): Status {
  if (change.op === 'add') {
    // Nothing reads lessons of these kinds.
    if (['route', 'limit', 'flow'].includes(change.kind)) return 'refused';
    const there = lessons.get(change.id);
    if (there)
      return there.kind === change.kind && isDeepStrictEqual(textOf(there), change.text) ? 'same' : 'refused';
    const { kind, state, expiresAt } = change;
    const life = { pinned: false, frozen: false, expiresAt, states: [state], events: 1 };
    lessons.set(change.id, { kind, state, texts: [change.text], ...life });
    return isClashing(lessons) ? 'refused' : 'applied';
  }
  if (change.op === 'merge') return attemptMerge(lessons, change, by);
  const lesson = lessons.get(change.id);
  if (lesson === undefined) return 'refused';
  const before = structuredClone(lesson);
  const why = edit(lesson, change);
  if (why !== undefined) return why;
  if (isDeepStrictEqual(lesson, before)) return 'same';
  if (!isAllowed(before, lesson, by) || isClashing(lessons)) return 'refused';
  lesson.states.push(lesson.state);
  lesson.events++;
  return 'applied';
}

function attemptMerge(lessons: Lessons, change: Extract<Change, { op: 'merge' }>, by: Author): Status {
  const into = lessons.get(change.into);
  const others = [...new Set(change.ids)].filter((id) => id !== change.into);
  if (into === undefined || others.length === 0 || !change.ids.includes(change.into)) return 'refused';
  if (others.some((id) => !lessons.has(id))) return 'refused';
  const isNews = !isDeepStrictEqual(textOf(into), change.text);
  const open = others.flatMap((id) => {
    const other = lessons.get(id);
    return other && !(other.state === 'retired' && other.mergedInto === change.into) ? [other] : [];
  });
  if (!isNews && open.length === 0) return 'same';
  if (isGone(into) || open.some(isGone)) return 'refused';
  if (isNews && change.from !== into.texts.length) return 'refused';
  for (const lesson of isNews ? [into, ...open] : open) {
    const before = structuredClone(lesson);
    if (lesson === into) into.texts.push(change.text);
    else {
      lesson.state = 'retired';
      lesson.mergedInto = change.into;
    }
    if (!isAllowed(before, lesson, by)) return 'refused';
    lesson.states.push(lesson.state);
    lesson.events++;
  }
  return isClashing(lessons) ? 'refused' : 'applied';
}

/** Undefined when the lesson already is as the change wants it. */
function edit(lesson: ModelLesson, change: Exclude<Change, { op: 'add' | 'merge' }>): Status | undefined {
  const turn = (state: LessonState): void => {
    if (lesson.state !== state) delete lesson.mergedInto;
    lesson.state = state;
  };
  switch (change.op) {
    case 'revise':
      if (isDeepStrictEqual(textOf(lesson), change.text)) return 'same';
      if (isGone(lesson) || change.from !== lesson.texts.length) return 'refused';
      lesson.texts.push(change.text);
      return undefined;
    case 'retire':
      if (lesson.state === 'rejected') return 'refused';
      turn('retired');
      return undefined;
    case 'move':
      if (lesson.state === change.to) return 'same';
      if (!WAYS[lesson.state]?.split(' ').includes(change.to)) return 'refused';
      turn(change.to);
      return undefined;
    case 'mark':
      if (change.pinned !== undefined) lesson.pinned = change.pinned;
      if (change.frozen !== undefined) lesson.frozen = change.frozen;
      return undefined;
    case 'expire':
      lesson.expiresAt = change.expiresAt;
      return undefined;
    case 'restore': {
      const text = lesson.texts[change.revision - 1];
      if (text === undefined || !lesson.states.includes(change.state)) return 'refused';
      if (!isDeepStrictEqual(textOf(lesson), text)) lesson.texts.push(text);
      turn(change.state);
      return undefined;
    }
  }
}

function isAllowed(before: ModelLesson, after: ModelLesson, by: Author): boolean {
  if (by.kind === 'person') return true;
  if (before.frozen) return false;
  if (before.state === 'rejected' && after.state !== 'rejected') return false;
  if (before.pinned && !after.pinned) return false;
  if (by.kind === 'learner' || !before.pinned) return true;
  const use = ({ state }: ModelLesson): number =>
    ['retired rejected', 'proposed', 'trial live'].findIndex((s) => s.includes(state));
  return use(after) >= use(before) && (after.expiresAt ?? Infinity) >= (before.expiresAt ?? Infinity);
}

function isClashing(lessons: Lessons): boolean {
  const places = [...lessons.values()]
    .filter((lesson) => !isGone(lesson))
    .map((lesson) => [textOf(lesson).name, JSON.stringify(textOf(lesson).scope)].join(' in '));
  return new Set(places).size < places.length;
}
