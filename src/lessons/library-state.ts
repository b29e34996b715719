import { isDeepStrictEqual } from 'node:util';
import {
  type Author,
  type Change,
  type ChangeResult,
  isActive,
  isInUse,
  type Lesson,
  type LessonText,
  PROMPT_KINDS,
  type PublishResult,
} from '../core/lesson.ts';
import type { Generation, GenerationDiff, LessonEvent, ShownRevision } from '../core/library.ts';
import { applyChange, type ChangeSetDraft, type DraftStep } from './apply-change.ts';
import { type LibraryView, uniqueKeyOf } from './change-permissions.ts';
import { changedLessonId, type DecodedChangeSet, isErasedText, type RefusedChange } from './codec.ts';

/** A published change set and the generation after it. */
interface PublishedSet {
  readonly generation: number;
  readonly steps: readonly DraftStep[];
}

interface SetHead {
  readonly id: string;
  readonly by: Author;
  readonly reason: string;
  readonly at: number;
}

/** All lessons with their revisions and histories, in memory. Changed only by whole change sets. */
export interface LibraryState extends LibraryView {
  readonly generation: number;
  readonly generations: readonly GenerationStep[];
  ids(): string[];
  history(id: string): readonly LessonEvent[];
  set(id: string): PublishedSet | undefined;
  /**
   * Applies a draft. The generation increases by one when the draft changes what prompts may contain; `atLeast` is the
   * generation that the log recorded for the set, so that no number is ever used twice.
   */
  commit(draft: ChangeSetDraft, head: SetHead, atLeast?: number): PublishedSet;
}

interface Entry {
  lesson: Lesson;
  readonly texts: LessonText[];
  readonly events: LessonEvent[];
}

export function createLibraryState(): LibraryState {
  const entries = new Map<string, Entry>();
  const holders = new Map<string, string>();
  const sets = new Map<string, PublishedSet>();
  const generations: GenerationStep[] = [];
  let generation = 0;

  const releaseKey = ({ id, text, state }: Lesson): void => {
    // Another lesson of the same set may hold the key by now.
    if (isActive({ state }) && holders.get(uniqueKeyOf(text)) === id) holders.delete(uniqueKeyOf(text));
  };
  const put = (lesson: Lesson): void => {
    const entry = entries.get(lesson.id);
    if (entry !== undefined) {
      releaseKey(entry.lesson);
      entry.lesson = lesson;
    } else entries.set(lesson.id, { lesson, texts: [], events: [] });
    if (isActive(lesson)) holders.set(uniqueKeyOf(lesson.text), lesson.id);
  };
  const addEvents = ({ change, lessons }: DraftStep, { by, reason, at }: SetHead): void => {
    const why = ('reason' in change ? change.reason : undefined) ?? reason;
    for (const { id, state, revision, text } of lessons) {
      const entry = entries.get(id);
      if (entry === undefined) continue;
      if (revision > entry.texts.length) entry.texts.push(text);
      entry.events.push({ at, by, reason: why, op: change.op, state, revision, text, generation });
    }
  };

  const libraryState: LibraryState = {
    get generation() {
      return generation;
    },
    generations,
    lesson: (id) => entries.get(id)?.lesson,
    text: (id, revision) => entries.get(id)?.texts[revision - 1],
    wasEver: (id, state) => entries.get(id)?.events.some((event) => event.state === state) ?? false,
    holder: (place) => holders.get(place),
    ids: () => [...entries.keys()],
    history: (id) => entries.get(id)?.events ?? [],
    set: (id) => sets.get(id),
    commit: (draft, head, atLeast = 0) => {
      const { id, by, reason, at } = head;
      const moves = changedPromptLessons(libraryState, draft);
      const next = Math.max(moves.length > 0 ? generation + 1 : generation, atLeast);
      if (next > generation) generations.push({ generation: next, at, by, reason, moves });
      generation = next;
      for (const lesson of draft.changed.values()) put(lesson);
      for (const step of draft.steps) addEvents(step, head);
      const record = { generation, steps: draft.steps };
      sets.set(id, record);
      return record;
    },
  };
  return libraryState;
}

/** How one lesson changed in the set that prompts may contain: revisions before and after; undefined: not in the set. */
interface PromptMove {
  readonly id: string;
  readonly from: number | undefined;
  readonly to: number | undefined;
}

/** A generation as its difference to the previous one. */
interface GenerationStep extends Generation {
  readonly moves: readonly PromptMove[];
}

/** The revision of a lesson that prompts may contain, expiry ignored; undefined when they may not contain it. */
export function shownRevision(lesson: Lesson | undefined): number | undefined {
  if (lesson === undefined || !PROMPT_KINDS.has(lesson.kind) || isErasedText(lesson.text)) return undefined;
  return isInUse(lesson) ? lesson.revision : undefined;
}

/** The changes that a draft makes to the set that prompts may contain. If there are any, a new generation begins. */
export function changedPromptLessons(view: LibraryView, draft: ChangeSetDraft): readonly PromptMove[] {
  const moves: PromptMove[] = [];
  for (const lesson of draft.changed.values()) {
    const from = shownRevision(view.lesson(lesson.id));
    const to = shownRevision(lesson);
    if (from !== to) moves.push({ id: lesson.id, from, to });
  }
  return moves;
}

/** Undefined when one of the generations never existed. Ordered by lesson id. */
export function compareGenerations(
  steps: readonly GenerationStep[],
  from: number,
  to: number,
): GenerationDiff | undefined {
  if (!existed(steps, from) || !existed(steps, to)) return undefined;
  const between = netMoves(steps, Math.min(from, to), Math.max(from, to));
  const moves = from <= to ? between : between.map(({ id, from, to }) => ({ id, from: to, to: from }));
  const added: ShownRevision[] = [];
  const removed: ShownRevision[] = [];
  const revised: { id: string; from: number; to: number }[] = [];
  for (const { id, from, to } of moves) {
    if (from === undefined && to !== undefined) added.push({ id, revision: to });
    if (from !== undefined && to === undefined) removed.push({ id, revision: from });
    if (from !== undefined && to !== undefined) revised.push({ id, from, to });
  }
  return { added, removed, revised };
}

/** Number 0 is the empty library and has no step. Numbers increase, with gaps. */
function existed(steps: readonly GenerationStep[], generation: number): boolean {
  if (generation === 0) return true;
  let low = 0;
  let high = steps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((steps[middle]?.generation ?? 0) < generation) low = middle + 1;
    else high = middle;
  }
  return steps[low]?.generation === generation;
}

function netMoves(steps: readonly GenerationStep[], after: number, until: number): readonly PromptMove[] {
  const net = new Map<string, PromptMove>();
  for (const { generation, moves } of steps) {
    if (generation <= after || generation > until) continue;
    for (const move of moves) net.set(move.id, { ...move, from: (net.get(move.id) ?? move).from });
  }
  return [...net.values()].filter(({ from, to }) => from !== to).sort((a, b) => (a.id < b.id ? -1 : 1));
}

/**
 * The results for a set that was published before: the recorded result for each change that took effect then, and for the
 * others what would happen now. Nothing is applied.
 */
export function replayPublishedSet(
  libraryState: LibraryState,
  set: DecodedChangeSet,
  record: PublishedSet,
  at: number,
): PublishResult {
  let next = 0;
  const results = set.changes.map((change): ChangeResult => {
    const step = record.steps[next];
    if (step !== undefined && isSame(set, change, step)) {
      next++;
      return step.result;
    }
    return resultNow(libraryState, set, change, at);
  });
  return { generation: record.generation, results };
}

/**
 * Whether a recorded step is this change. Its text may have been redacted on its way to the log; then all other fields
 * are compared.
 */
function isSame(set: DecodedChangeSet, change: Change | RefusedChange, step: DraftStep): boolean {
  if (isDeepStrictEqual(change, step.change)) return true;
  if (set.changes.some((other) => isDeepStrictEqual(other, step.change))) return false;
  return isDeepStrictEqual(withoutText(change), withoutText(step.change));
}

const withoutText = (change: Change | RefusedChange): object => ({
  ...change,
  text: undefined,
  reason: undefined,
});

function resultNow(
  libraryState: LibraryState,
  set: DecodedChangeSet,
  change: Change | RefusedChange,
  at: number,
): ChangeResult {
  if (!('op' in change)) return change;
  const { result } = applyChange(libraryState, change, set.by, at);
  if (result.status !== 'applied') return result;
  const why = `the set ${set.id} was published before, without this: publish it in a new set`;
  return { status: 'refused', id: changedLessonId(change), why };
}
