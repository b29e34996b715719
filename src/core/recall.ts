import type { Lesson } from './lesson.ts';

/** Who asks for lessons, and for what. */
export interface RecallQuery {
  /** The task in the caller's words; what a channel added to them is taken out here. */
  readonly text: string;
  readonly session: string;
  readonly agent: string;
  readonly project?: string;
  readonly runKind?: string;
  /** The domain the caller named. */
  readonly domain?: string;
  /** Only these may be recalled; absent: all that are shown. */
  readonly among?: ReadonlySet<string>;
  /** Nobody is served meanwhile: it waits until what lessons and task mean is known, so that the same is found every time. */
  readonly isUnhurried?: boolean;
}

export type Verdict =
  | 'shown'
  | 'held-out'
  | 'not-relevant'
  | 'out-of-scope'
  | 'over-limit'
  | 'over-budget'
  | 'hidden-by-age'
  | 'near-duplicate';

/** One lesson that was looked at, and what came of it. */
export interface Considered {
  readonly id: string;
  readonly revision: number;
  readonly name: string;
  /** 0 to 1: how well it fits the task. */
  readonly relevance: number;
  /** 0 to 1: how present it is, by age and by proven use. */
  readonly activation: number;
  readonly verdict: Verdict;
}

/** The domain of a session's work and how it was found. */
export interface Domain {
  readonly name: string;
  readonly reason: 'header' | 'pattern' | 'nearest' | 'default';
}

export interface Recalled {
  /** In the order in which they are shown. */
  readonly lessons: readonly Lesson[];
  readonly heldOut: readonly string[];
  readonly domain: Domain;
  /** The best that were looked at, shown ones first. */
  readonly considered: readonly Considered[];
  /** The model that compared meanings. */
  readonly engine: string;
}

/** Never rejects and never blocks the event loop for more than a few milliseconds; at worst it recalls nothing. */
export type Recall = (query: RecallQuery, now: number) => Promise<Recalled>;
