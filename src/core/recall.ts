import type { Lesson, LessonPlace } from './lesson.ts';

/** A query for lessons. */
export interface RecallQuery {
  /** The task as the caller wrote it; text added by a chat channel is removed during recall. */
  readonly text: string;
  readonly session: string;
  readonly agent: string;
  readonly project?: string;
  /** The name of the project's folder, as people know it. */
  readonly projectLabel?: string;
  readonly runKind?: string;
  /** Who asks, as `core/principal` names them; absent: the home's own person. */
  readonly member?: string;
  /** The person's agents share what they are told: a rule told to one of them is for all. */
  readonly sharesAgents?: boolean;
  /** The domain the caller named. */
  readonly domain?: string;
  /** What earlier recalls of the session decided, for one that is continued from the record. */
  readonly drawn?: { readonly shown: readonly string[]; readonly heldOut: readonly string[] };
  /** The most lessons with their bodies, where fewer than the settings allow; 0: no lessons at all. */
  readonly most?: number;
  /** The tokens that they may add, where the model's context has less room than the settings give; absent: as the settings say. */
  readonly room?: number;
  /** Where the lessons will stand: a message has no room for lines of lessons that only may fit. Absent: system. */
  readonly place?: LessonPlace;
  /** Only these ids may be recalled; absent: all shown lessons. */
  readonly among?: ReadonlySet<string>;
  /** No client waits for it: it waits until all embeddings are computed, so that the result is reproducible. */
  readonly isUnhurried?: boolean;
}

export type RecallOutcome =
  /** With its body. */
  | 'shown'
  /** By its line only: it fits, but not clearly. */
  | 'listed'
  /** By its line only: it is a person's word, and the half of the budget that such lessons share is full. */
  | 'condensed'
  | 'held-out'
  | 'not-relevant'
  | 'out-of-scope'
  /** It is private to the agent and project it was learned from. */
  | 'private'
  | 'over-limit'
  | 'over-budget'
  | 'hidden-by-age'
  | 'near-duplicate';

/** One lesson that was considered, with the outcome. */
export interface ConsideredLesson {
  readonly id: string;
  readonly revision: number;
  readonly name: string;
  /** 0 to 1: how well it fits the task. */
  readonly relevance: number;
  /** 0 to 1: by age and by proven use. */
  readonly activation: number;
  readonly verdict: RecallOutcome;
  /** The lesson that it nearly repeats. Facts of earlier versions have none. */
  readonly of?: string;
  /** The error that came up, for which it was shown or held out: a fix is not chosen by the task. */
  readonly error?: string;
  /** The turn whose answer did not keep to it: it is shown again for that. */
  readonly brokenIn?: string;
}

/** The domain of a session's work and how it was found. */
export interface Domain {
  readonly name: string;
  readonly reason: 'header' | 'pattern' | 'nearest' | 'default';
}

export interface RecallResult {
  /** Shown with their bodies, in the order in which they are shown. */
  readonly lessons: readonly Lesson[];
  /** Shown by one line each, the nearest to the task first. None of them is among `lessons`. */
  readonly index: readonly Lesson[];
  readonly heldOut: readonly string[];
  /** Those of the shown ones for which the session does not count (see `lessons/effect/hold-out`). Absent when there are none. */
  readonly unmeasured?: readonly string[];
  readonly domain: Domain;
  /** The best candidates, shown ones first. */
  readonly considered: readonly ConsideredLesson[];
  /** The embedding model that was used. */
  readonly engine: string;
  /** The task's embedding was not there in time: the same recall may find more a moment later. */
  readonly isLate?: true;
}

/** Never rejects and never blocks the event loop for more than a few milliseconds; at worst it recalls nothing. */
export type Recall = (query: RecallQuery, now: number) => Promise<RecallResult>;

/**
 * Texts to unit vectors. Equal texts give equal vectors; similar meanings give near vectors as far as the model can.
 * Rejects when the model cannot be loaded or is closed; callers have a simpler fallback.
 */
export interface EmbeddingModel {
  /** Names the model and its dimensions; vectors of different ids are not comparable. */
  readonly id: string;
  readonly dimensions: number;
  /** `most`: word pieces that are read of each text; unless it is given, as many as the model usually reads. */
  embed(texts: readonly string[], most?: number): Promise<readonly Float32Array[]>;
  /** False while the model is not loaded: whoever is in a hurry does not wait. Absent: always ready. */
  isReady?(): boolean;
  close(): Promise<void>;
}
