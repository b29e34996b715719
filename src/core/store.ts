import type { Usage } from './chat.ts';
import type { Fact, Project, RewardSource, StoredFact, TurnRole, TurnStatus } from './fact.ts';
import type { WireName } from './wire.ts';

export interface NewFact {
  readonly at: number;
  readonly fact: Fact;
  /** An idempotency key: a second fact with the same key is not appended, and the first one's number is given back. */
  readonly key?: string;
}

/**
 * A body kept beside the log: once for all who use it, under the hash of its text, or for one turn alone, under that
 * turn's name (see `ownBodyName`); that comes in one batch with the fact that names it. It belongs to the sessions that
 * use it.
 */
export interface Block {
  readonly hash: string;
  /** Absent when the caller knows that the store has it; the use is counted all the same. */
  readonly text?: string;
  readonly session: string;
}

export interface Batch {
  readonly facts: readonly NewFact[];
  readonly blocks?: readonly Block[];
  /** For sessions that are recognised by the chain of their messages: the newest link. */
  readonly chains?: readonly { readonly session: string; readonly link: string }[];
  /** More is waiting than can be written: bodies are kept as they are, which takes more room and less time. */
  readonly isHurried?: boolean;
}

export interface Appended {
  readonly seq: number;
  /** False when the key had been used before. */
  readonly isNew: boolean;
}

/**
 * The log of facts, the bodies beside it, and the views derived from it. Synchronous: it lives in the one thread that
 * owns it. Exactly one writer per home.
 */
export interface Store extends StoreReader {
  /**
   * All of it or nothing, durable on return: facts, blocks and views in one transaction. One answer per fact.
   * Throws `StoreError` when it could not be written; nothing has changed then and the same batch may be tried again.
   */
  append(batch: Batch): readonly Appended[];
  /**
   * Takes away every body that only this session used, and what its facts quote, for good (also from free pages and the
   * write-ahead log), and appends the tombstone. The number of turns erased; 0 for an unknown session.
   */
  erase(session: string, at: number, reason: string): number;
  /** Erases whole sessions whose last turn is older than `before`, oldest first, at most `limit` of them. */
  expire(before: number, at: number, limit: number): number;
  /** Drops all views and folds them again from the facts. */
  rebuild(): void;
  /** A consistent copy of everything in one new file. */
  snapshot(file: string): void;
  close(): void;
}

/** What anyone may ask, at any time, without standing in the writer's way. */
export interface StoreReader {
  facts(after: number, limit: number): readonly StoredFact[];
  /** Facts of one kind, by an index: what the library and its measurements are folded from. */
  factsOf(type: FoldedType, after: number, limit: number): readonly StoredFact[];
  /** What was chosen for a session, oldest first. */
  recalls(session: string): readonly StoredFact[];
  /** What a policy that trains has sampled for a session's turns, oldest first. */
  sampled(session: string): readonly StoredFact[];
  /** What was reported of a session or an episode, oldest first. */
  events(session: string): readonly StoredFact[];
  sessions(query: SessionQuery): readonly SessionView[];
  session(id: string): SessionView | undefined;
  /** A session's turns in order. */
  turns(session: string): readonly TurnView[];
  turn(id: string): TurnView | undefined;
  /** Turns without an end, oldest first. */
  openTurns(): readonly string[];
  rewards(of: { readonly turn: string } | { readonly session: string }): readonly RewardView[];
  /** A block's text; undefined when it was erased or never there. */
  block(hash: string): string | undefined;
  /** The newest chain links, newest first, to recognise sessions after a restart. */
  chains(limit: number): readonly { readonly session: string; readonly link: string }[];
  totals(): StoreTotals;
  /** Rows whose hash does not fit their content, and what SQLite itself finds; empty when all is well. */
  check(): readonly string[];
}

/** Kinds of facts that are found by an index, since whole folds over them are made elsewhere. */
export const FOLDED_TYPES = [
  'library-changed',
  'session-scored',
  'turn-appraised',
  'learning-queued',
  'cycle-end',
  'session-marked',
  'reward-given',
] as const;
export type FoldedType = (typeof FOLDED_TYPES)[number];

export interface SessionQuery {
  readonly limit: number;
  /** Sessions whose last turn is older than this; for paging. */
  readonly before?: number;
  readonly agent?: string;
  readonly project?: string;
}

export interface SessionView {
  readonly id: string;
  readonly agent: string;
  readonly client?: string;
  readonly project?: Project;
  readonly turns: number;
  readonly startedAt: number;
  readonly lastAt: number;
  readonly endedAt?: number;
  readonly erased: boolean;
}

export interface TurnView {
  readonly id: string;
  readonly session: string;
  readonly agent: string;
  readonly role: TurnRole;
  readonly wire: WireName;
  readonly model: string;
  readonly generation: number;
  readonly policy: string;
  readonly lessons: readonly string[];
  readonly startedAt: number;
  /** Undefined while the turn runs. */
  readonly status?: TurnStatus;
  readonly endedAt?: number;
  readonly httpStatus?: number;
  readonly failure?: string;
  readonly usage?: Usage;
  readonly request?: string;
  readonly reply?: string;
}

export interface RewardView {
  readonly seq: number;
  readonly at: number;
  readonly source: RewardSource;
  readonly score: number;
  readonly note?: string;
}

export interface StoreTotals {
  readonly facts: number;
  readonly sessions: number;
  readonly turns: number;
  /** Bodies that turns share. */
  readonly blocks: number;
  /** On disk, write-ahead log included. */
  readonly bytes: number;
}

/** The store could not do it: the disk is full, the file is damaged, the format is newer than this program. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: 'full' | 'io' | 'corrupt' | 'newer' | 'old-sqlite' | 'locked' | 'closed';

  constructor(code: StoreError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
