import type { EpisodeOutcome, ReportedAttempt } from '../core/evidence.ts';
import type { JsonObject } from '../core/json.ts';
import type { LessonKind, LessonState } from '../core/lesson.ts';
import type { FlowOverlay } from '../core/overlay.ts';
import type { NamedTime } from '../core/recollection.ts';

/** A result. A failure is a value: why, and what the caller can do about it. */
export type EpisodeResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly why: string; readonly fix: string };

/** Who asks. The implementation fills in absent fields. */
export interface EpisodeCaller {
  readonly agent?: string;
  readonly project?: string;
  readonly domain?: string;
  /** The name of the MCP client. */
  readonly client?: string;
}

/** What is looked up: the lessons that fit a task, or one by its name. */
export type LookUp =
  | { readonly task: string; readonly limit?: number }
  | { readonly name: string; readonly limit?: number };

/** Lessons as a prompt would show them. */
export interface RecalledLessons {
  /** Empty when there is nothing to show. */
  readonly text: string;
  /** `isLine`: only its line is in the text. */
  readonly lessons: readonly { readonly id: string; readonly name: string; readonly isLine?: true }[];
  /** What the person said about it in earlier conversations, oldest first; it is in the text, too. */
  readonly said: readonly QuotedWords[];
}

/** A person's own words, with their source. */
export interface QuotedWords {
  /** When they were said, as an ISO date. */
  readonly at: string;
  readonly session: string;
  readonly turn: string;
  readonly text: string;
  /** The times that they name by their distance from then, as "yesterday". */
  readonly times: readonly NamedTime[];
}

export interface ListedLesson {
  readonly id: string;
  readonly kind: LessonKind;
  readonly name: string;
  readonly description: string;
  readonly state: LessonState;
  readonly revision: number;
}

/** A flow in force: calls that always follow each other, and what they need to know. */
export interface OfferedFlow extends Pick<FlowOverlay, 'parameters' | 'steps'> {
  /** The name of its lesson. */
  readonly name: string;
}

/** The attempts of an episode so far. */
export interface AttemptCounts {
  readonly attempts: number;
  readonly failed: number;
}

/** What became of an episode that shows a failure beside something that worked. */
export interface EpisodeLearned {
  /** `trial` and `live` are in force; `proposed` waits for a person; `refused` and nothing at all say why. */
  readonly lessons: readonly { readonly id: string; readonly name: string; readonly outcome: string }[];
  readonly why?: string;
}

/** How an episode stands at its end. */
export interface EpisodeSummary extends AttemptCounts {
  /** A failure stands beside something that worked: one lesson is drawn from this episode alone. */
  readonly learns: boolean;
  /** Absent while that is under way, and where it does not learn. */
  readonly learned?: EpisodeLearned;
}

/** The subject of feedback. */
export type FeedbackSubject =
  | { readonly turn: string }
  | { readonly session: string }
  | { readonly episode: string };

/**
 * The store of episodes. Nothing rejects; a call that takes too long ends as `ok: false`. A write is durable when it
 * resolves with `ok`. Only reads take a signal: a report is kept even if the agent did not wait for the answer.
 */
export interface EpisodeApi {
  /** Opens an episode with a new id and recalls lessons for its task. */
  start(
    episode: EpisodeCaller & { readonly task: string },
  ): Promise<EpisodeResult<{ readonly episode: string; readonly recalled: RecalledLessons }>>;
  /** Fails for an episode that is unknown or has ended. */
  attempt(attempt: ReportedAttempt & { readonly episode: string }): Promise<EpisodeResult<AttemptCounts>>;
  /** Idempotent for the same outcome. `wait`: for what is learned from it, for two minutes at most. */
  end(end: {
    readonly episode: string;
    readonly outcome: EpisodeOutcome;
    readonly note?: string;
    readonly wait?: boolean;
  }): Promise<EpisodeResult<EpisodeSummary>>;
  /** By task or by name. Not counted as shown to a session, so it affects no measurement. */
  recall(query: EpisodeCaller & LookUp, signal: AbortSignal): Promise<EpisodeResult<RecalledLessons>>;
  list(
    query: { readonly state?: LessonState; readonly kind?: LessonKind },
    signal: AbortSignal,
  ): Promise<EpisodeResult<readonly ListedLesson[]>>;
  /** An event, as `POST /v1/events` takes it. */
  report(event: JsonObject): Promise<EpisodeResult<null>>;
  /** The flows in force for the caller. */
  flows(caller: EpisodeCaller, signal: AbortSignal): Promise<EpisodeResult<readonly OfferedFlow[]>>;
  /** −1 to 1, passed on by an agent, so less trusted than a person's own feedback. */
  feedback(given: {
    readonly subject: FeedbackSubject;
    readonly score: number;
    readonly note?: string;
  }): Promise<EpisodeResult<null>>;
}
