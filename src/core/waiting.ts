/** Why something waits, for programs. */
export type WaitingCode =
  /** Fewer failures in one place than `learn.failures`. */
  | 'more-failures'
  /** Enough failures, all from one session and without a person's or a verifier's word. */
  | 'one-session'
  | 'learning-now'
  | 'reply-unusable'
  | 'model-unavailable'
  | 'budget-spent'
  | 'refused-by-gate'
  | 'nothing-found'
  | 'not-cited'
  /** Lessons in the user's own words are in use, until the evolver has written them out. */
  | 'evolver-revision'
  /** Lessons that were shown, and the user had to say the same again. */
  | 'lesson-ignored'
  | 'learning-off'
  | 'learning-stopped'
  | 'not-running'
  | 'no-key'
  | 'session-open'
  | 'judge'
  | 'needs-approval'
  /** On trial, and no measurement decides: the owner does. */
  | 'not-tested'
  /** Three nights in a row brought nothing. */
  | 'job-paused'
  | 'clock-not-believed'
  | 'store-degraded'
  /** What happened meanwhile waits in this home. */
  | 'database-away'
  | 'alerts-not-taken';

/** Something that waits. `what` and `why` together are a sentence: "2 failures of claude-code" "wait for 1 more like them". */
export interface Waiting {
  readonly code: WaitingCode;
  readonly count: number;
  readonly what: string;
  readonly why: string;
  /** When it goes on by itself, in milliseconds since the epoch. */
  readonly nextAt?: number;
  /** The command that helps. */
  readonly fix?: string;
  /** Ids of the lessons that it is about. */
  readonly lessons?: readonly string[];
}
