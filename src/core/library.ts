import type { Author, ChangeSet, Lesson, LessonState, LessonText, Published } from './lesson.ts';

/** A version of what prompts may contain. Number 0 is the empty library. */
export interface Generation {
  readonly generation: number;
  readonly at: number;
  readonly reason: string;
  readonly by: Author;
}

/** A lesson as a prompt may show it: which words, of which revision. */
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

/** One thing that happened to a lesson, oldest first: who, when, why, and what it said afterwards. */
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

/** Everything learned, and how it came to be so. Reads are immediate; a published change is durable when it resolves. */
export interface Library {
  readonly generation: number;
  lesson(id: string): Lesson | undefined;
  /** By id, or by the name of one that is not retired or rejected; undefined when there is none or when there are several. */
  find(idOrName: string): Lesson | undefined;
  /** All of them, in the order of their ids. */
  lessons(): readonly Lesson[];
  /** What prompts may contain now: trial and live lessons of the kinds that change prompts, not expired at `now`. */
  shown(now: number): readonly Lesson[];
  history(id: string): readonly LessonEvent[];
  generations(): readonly Generation[];
  /** Undefined for a generation that never was. */
  diff(from: number, to: number): GenerationDiff | undefined;
  /**
   * Serialised: sets are applied one after the other. Rejects with `StoreError` when nothing could be written; nothing
   * has changed then. A set of which nothing applies writes nothing.
   */
  publish(set: ChangeSet): Promise<Published>;
  /** The change set that makes the prompts what they were under a generation; undefined if it never was. */
  rollback(generation: number, by: Author): ChangeSet | undefined;
  /** Called after each set that was published. Returns the way to stop it. */
  onChange(listener: (published: Published) => void): () => void;
}
