import type { Fence } from './jobs.ts';
import type { Author, ChangeSet, Lesson, LessonState, LessonText, PublishResult } from './lesson.ts';

/** A version of what prompts may contain. Number 0 is the empty library. */
export interface Generation {
  readonly generation: number;
  readonly at: number;
  readonly reason: string;
  readonly by: Author;
}

/** A revision of a lesson that prompts may contain. */
export interface ShownRevision {
  readonly id: string;
  readonly revision: number;
}

/** What changed between two generations. */
export interface GenerationDiff {
  readonly added: readonly ShownRevision[];
  readonly removed: readonly ShownRevision[];
  readonly revised: readonly { readonly id: string; readonly from: number; readonly to: number }[];
}

/** One event in a lesson's history: who, when, why, and its text afterwards. */
export interface LessonEvent {
  readonly at: number;
  readonly by: Author;
  readonly reason: string;
  readonly op: string;
  readonly state: LessonState;
  readonly revision: number;
  readonly text: LessonText;
  /** The generation in force afterwards. */
  readonly generation: number;
}

/** All lessons and their history. Reads are immediate; a published change is durable when its promise resolves. */
export interface Library {
  readonly generation: number;
  lesson(id: string): Lesson | undefined;
  /** By id, or by the name of a lesson that is not retired or rejected; undefined when none or several match. */
  find(idOrName: string): Lesson | undefined;
  /** All lessons, ordered by id. */
  lessons(): readonly Lesson[];
  /** What prompts may contain: trial and live lessons of the prompt kinds, not expired at `now`. */
  shown(now: number): readonly Lesson[];
  history(id: string): readonly LessonEvent[];
  generations(): readonly Generation[];
  /** Undefined for an unknown generation. */
  diff(from: number, to: number): GenerationDiff | undefined;
  /**
   * Sets are applied one after the other. Rejects with `StoreError` when it could not be written; nothing has changed
   * then. A set of which nothing applies writes nothing. `fence`: the right that its process needs until it is written.
   */
  publish(set: ChangeSet, fence?: Fence): Promise<PublishResult>;
  /** The change set that restores what prompts contained in a generation; undefined for an unknown one. */
  rollback(generation: number, by: Author): ChangeSet | undefined;
  /** Called after each published set. Returns the function that unsubscribes. */
  onChange(listener: (published: PublishResult) => void): () => void;
}
