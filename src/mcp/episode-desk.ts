import type { Attempt } from '../core/evidence.ts';
import type { LessonKind, LessonState } from '../core/lesson.ts';

/** What came of a wish. What went wrong is a value: why, and what the asker can do about it. */
export type Told<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly why: string; readonly mend: string };

/** Who asks. Absent fields are the desk's to fill in. */
export interface Asker {
  readonly agent?: string;
  readonly project?: string;
  readonly domain?: string;
  /** The program at the other end, as it calls itself. */
  readonly client?: string;
}

/** Lessons as a prompt would show them. */
export interface Recollection {
  /** Empty when there is nothing to show. */
  readonly text: string;
  readonly lessons: readonly { readonly id: string; readonly name: string }[];
}

export interface ListedLesson {
  readonly id: string;
  readonly kind: LessonKind;
  readonly name: string;
  readonly description: string;
  readonly state: LessonState;
  readonly revision: number;
}

export const OUTCOMES = ['success', 'failure', 'partial'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** The attempts of an episode so far. */
export interface Tally {
  readonly attempts: number;
  readonly failed: number;
}

/** What feedback is about. */
export type Subject = { readonly turn: string } | { readonly session: string } | { readonly episode: string };

/**
 * Where episodes are kept. Nothing rejects; whatever takes too long ends as `ok: false`, so that no caller waits for
 * ever. What was written is durable when it resolves with `ok`. Signals are for reads alone: what an agent reported is
 * kept, whether or not it waited for the answer.
 */
export interface EpisodeDesk {
  /** Opens an episode under a new id, and recalls what is known for its task. */
  start(
    episode: Asker & { readonly task: string },
  ): Promise<Told<{ readonly episode: string; readonly recalled: Recollection }>>;
  /** Refused for an episode that is unknown or over. */
  attempt(attempt: Attempt & { readonly episode: string }): Promise<Told<Tally>>;
  /** `learns`: there is something in it to learn from. Ending twice with the same outcome is ending once. */
  end(end: {
    readonly episode: string;
    readonly outcome: Outcome;
    readonly note?: string;
  }): Promise<Told<Tally & { readonly learns: boolean }>>;
  /** Shows nothing to a session and counts for no measurement. */
  recall(
    query: Asker & { readonly task: string; readonly limit?: number },
    signal: AbortSignal,
  ): Promise<Told<Recollection>>;
  list(
    query: { readonly state?: LessonState; readonly kind?: LessonKind },
    signal: AbortSignal,
  ): Promise<Told<readonly ListedLesson[]>>;
  /** −1 to 1, as an agent passes it on: hearsay, not a person's own word. */
  feedback(given: {
    readonly subject: Subject;
    readonly score: number;
    readonly note?: string;
  }): Promise<Told<null>>;
}
