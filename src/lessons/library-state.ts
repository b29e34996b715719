import type { Author, Lesson, LessonText } from '../core/lesson.ts';
import type { LessonEvent } from '../core/library.ts';
import type { ChangeSetDraft, DraftStep } from './apply-change.ts';
import type { LibraryView } from './change-permissions.ts';
import { isActive, uniqueKeyOf } from './change-permissions.ts';
import { changedPromptLessons, type GenerationStep } from './generations.ts';

/** A published change set and the generation after it. */
export interface PublishedSet {
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
    if (isActive(state) && holders.get(uniqueKeyOf(text)) === id) holders.delete(uniqueKeyOf(text));
  };
  const put = (lesson: Lesson): void => {
    const entry = entries.get(lesson.id);
    if (entry !== undefined) {
      releaseKey(entry.lesson);
      entry.lesson = lesson;
    } else entries.set(lesson.id, { lesson, texts: [], events: [] });
    if (isActive(lesson.state)) holders.set(uniqueKeyOf(lesson.text), lesson.id);
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
