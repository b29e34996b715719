import type { AssistantPart, ChatRequest, StopReason, Usage } from './chat.ts';
import type { RewardSource, TurnRole, TurnStatus } from './evidence.ts';
import type { Fact, Project, StoredFact, UnreadableBody } from './fact.ts';
import type { ServedBy } from './gateway-process.ts';
import type { Fence } from './jobs.ts';
import type { WireName } from './wire.ts';

export interface NewFact {
  readonly at: number;
  readonly fact: Fact;
  /** An idempotency key: a second fact with the same key is not appended; the answer is the first one's number. */
  readonly key?: string;
  /** An idempotency key in a caller's words, instead of `key`: only its keyed hash is stored. */
  readonly callerKey?: { readonly purpose: string; readonly text: string };
  /** Written only while its process still has this right; otherwise the append rejects with `fenced`. */
  readonly fence?: Fence;
}

/**
 * A text stored beside the log: shared under the hash of its text, or for one turn alone under that turn's key (see
 * `ownBodyName`), which comes in one batch with the fact that refers to it. It belongs to the sessions that use it.
 */
export interface Block {
  readonly hash: string;
  /** Absent when the caller knows that the store has it; the use is counted anyway. */
  readonly text?: string;
  readonly session: string;
}

export interface Batch {
  readonly facts: readonly NewFact[];
  readonly blocks?: readonly Block[];
  /** For sessions that are recognised by their message chain: the newest link. */
  readonly chains?: readonly { readonly session: string; readonly link: string }[];
  /** The writer is behind: bodies are stored uncompressed, which takes more space and less time. */
  readonly isHurried?: boolean;
  /**
   * It happened before: the database was away. A turn that is older than the tombstone of its session is not recorded: the
   * session was erased meanwhile.
   */
  readonly isLate?: boolean;
  /**
   * Bodies are left out that the store had when the batch was made. Where another process may have erased them since, the
   * append rejects with `stale`: then the batch is made again without what was known.
   */
  readonly reliesOnStored?: boolean;
}

export interface AppendResult {
  readonly seq: number;
  /** False when the key had been used before. */
  readonly isNew: boolean;
}

/**
 * The log of facts, the bodies beside it, and the views derived from it. Synchronous: it is used by the one thread that
 * owns it. Exactly one writer per home.
 */
export interface Store extends StoreReader {
  /**
   * All of it or nothing, durable on return: facts, blocks and views in one transaction. One answer per fact.
   * Throws `StoreError` when it could not be written; nothing has changed then and the same batch may be tried again.
   */
  append(batch: Batch): readonly AppendResult[];
  /**
   * Deletes every body that only this session uses and all text quoted in its facts, physically (also in free pages and
   * in the write-ahead log), and appends the tombstone. Lessons that were learned from it lose its quotes, and their text
   * where nothing else supports it, in the same transaction. An unknown session has no turns.
   */
  erase(session: string, at: number, reason: string): Erasure;
  /**
   * Erases whole sessions whose last turn is older than `before`, oldest first, at most `limit` of them. `upTo`: only
   * those whose turns have no fact with a higher number. Returns the number of sessions erased.
   */
  expire(before: number, at: number, limit: number, upTo?: number): number;
  /** Drops all views and folds them again from the facts. */
  rebuild(): void;
  /** A consistent copy of everything in one new file. */
  snapshot(file: string): void;
  close(): void;
}

/** What was erased. */
export interface Erasure {
  /** The number of turns. */
  readonly turns: number;
  readonly lessons: {
    /** Lessons that rested on the session alone: retired, and their text erased. */
    readonly retired: readonly NamedLesson[];
    /** Lessons that lost quotes, context or words of the session, and stay. */
    readonly cleaned: readonly NamedLesson[];
  };
  /** The number of copies of the store from which it was erased as well. */
  readonly copies: number;
}

/** A lesson with the name that it had before the erasure. */
export interface NamedLesson {
  readonly id: string;
  readonly name: string;
}

/** Reads, at any time, without blocking the writer. */
export interface StoreReader {
  facts(after: number, limit: number): readonly StoredFact[];
  /** Facts of one type, by an index: the library and its measurements are folded from these. */
  factsOf(type: IndexedType, after: number, limit: number): readonly StoredFact[];
  /** The newest facts of one type, oldest first. */
  newestOf(type: IndexedType, limit: number): readonly StoredFact[];
  /** The `lessons-recalled` and `overlays-applied` facts of a session, oldest first. */
  recalls(session: string): readonly StoredFact[];
  /** The `turn-sampled` facts of a session, oldest first. */
  sampled(session: string): readonly StoredFact[];
  /** Facts reported about a session, an episode, a job, a run or a policy, oldest first. */
  events(session: string): readonly StoredFact[];
  sessions(query: SessionQuery): readonly SessionView[];
  session(id: string): SessionView | undefined;
  /** Ids with this beginning and end, by an index, at most `limit` of them. Erased sessions and their turns count, too. */
  ids(of: 'sessions' | 'turns', pattern: IdPattern, limit: number): readonly string[];
  /** A session's turns in order; a part of them with `page`. */
  turns(session: string, page?: TurnPage): readonly TurnView[];
  turn(id: string): TurnView | undefined;
  /** Turns without an end, oldest first. */
  openTurns(): readonly string[];
  /** `session`: those of the session as a whole. `turnsOf`: those of its turns. */
  rewards(of: RewardSubject): readonly RewardView[];
  /** How a session or its turns were judged, and what a model read in its messages, oldest first. */
  judgements(
    session: string,
    type: 'turn-appraised' | 'session-scored' | 'rules-observed' | 'message-read',
  ): readonly StoredFact[];
  /** A block's text; undefined when it was erased or never stored. */
  block(hash: string): string | undefined;
  /** The newest chain links, newest first, to recognise sessions after a restart. */
  chains(limit: number): readonly { readonly session: string; readonly link: string }[];
  totals(): StoreTotals;
  /** Integrity check: rows whose checksum does not match, and SQLite's own findings; empty when the store is sound. */
  check(): readonly string[];
}

/** The types of facts that have an index, because other rooms fold over all of them. */
export const FOLDED_TYPES = [
  'library-changed',
  'session-scored',
  'turn-appraised',
  'learning-queued',
  'cycle-end',
  'session-marked',
  'reward-given',
  'rules-observed',
] as const;
export type FoldedType = (typeof FOLDED_TYPES)[number];
/** Events and the words of messages have an index, too, and are not folded at every start: there may be very many. */
export type IndexedType = FoldedType | 'event-reported' | 'message-indexed';

export interface SessionQuery {
  readonly limit: number;
  /** Only sessions whose last turn is older than this; for paging. */
  readonly before?: number;
  /** Only sessions that were active in this time: their last turn is not older than `from`, and they began before `to`. */
  readonly from?: number;
  readonly to?: number;
  readonly agent?: string;
  readonly project?: string;
  /** Only sessions of this member of the team. */
  readonly member?: string;
  /** Without the attempts of practice, of which there may be many between two sessions of people. */
  readonly withoutPractice?: boolean;
}

/** A part of the turns of a session: the first ones, or the last ones. */
export interface TurnPage {
  readonly limit: number;
  readonly fromEnd?: boolean;
}

/** What rewards belong to. */
export type RewardSubject =
  | { readonly turn: string }
  | { readonly session: string }
  | { readonly turnsOf: string };

/** The ids that a typed word can mean: those with this beginning and this end. */
export interface IdPattern {
  readonly beginning: string;
  readonly end: string;
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
  /** The kind of run that the caller named, such as `train`. */
  readonly runKind?: string;
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
  /** Until the first byte of the reply, and until its end. */
  readonly firstByteMs?: number;
  readonly totalMs?: number;
  readonly request?: string;
  readonly reply?: string;
  /** The id of the caller's key, `anonymous`, or `unverified`; undefined in records of earlier versions. */
  readonly caller?: string;
  /** In a record that several gateways share. */
  readonly gateway?: ServedBy;
  /** The parts of it that could not be read. */
  readonly unreadable?: { readonly request?: UnreadableBody; readonly reply?: UnreadableBody };
}

export interface RewardView {
  readonly seq: number;
  readonly at: number;
  readonly source: RewardSource;
  readonly score: number;
  readonly note?: string;
  /** The id of the key that gave it. */
  readonly by?: string;
}

export interface StoreTotals {
  readonly facts: number;
  readonly sessions: number;
  readonly turns: number;
  /** The number of shared bodies. */
  readonly blocks: number;
  /** On disk, write-ahead log included. */
  readonly bytes: number;
}

/** The store failed: the disk is full, the file is damaged, the format is newer than this program, and so on. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  /**
   * `away`: a database that does not answer, or takes no writes. `unclear`: it went away before it answered a commit.
   * `stale`: another process erased what a batch relies on. `uncopied`: a record could not be copied before its format changes.
   * `no-driver`: the packages that a PostgreSQL needs are not installed. `fenced`: another process has the right that a fact needs.
   */
  readonly code:
    | 'full'
    | 'io'
    | 'away'
    | 'unclear'
    | 'corrupt'
    | 'newer'
    | 'old-sqlite'
    | 'uncopied'
    | 'no-driver'
    | 'locked'
    | 'stale'
    | 'fenced'
    | 'closed';

  constructor(code: StoreError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/**
 * The key of a body that belongs to one turn alone: its request or its reply. It is found through its turn, and needs
 * neither a hash nor a reference count.
 */
export interface TurnBodyKey {
  readonly turn: string;
  readonly part: 'request' | 'reply';
}

/**
 * The idempotency key of a change of the library that was made from the state after the fact `newest`. Of two changes that were
 * made from the same state only the first is accepted, so that generations never fork.
 */
export const libraryKey = (newest: number): string => `library:${newest}`;

export const formatTurnBodyKey = ({ turn, part }: TurnBodyKey): string => `${part}:${turn}`;

/** Undefined for the key of a shared block. */
export function parseTurnBodyKey(name: string): TurnBodyKey | undefined {
  if (name.startsWith('request:')) return { part: 'request', turn: name.slice('request:'.length) };
  return name.startsWith('reply:') ? { part: 'reply', turn: name.slice('reply:'.length) } : undefined;
}

/** Reads that are answered by another thread. */
export type AsyncReads = {
  [K in keyof StoreReader]: (...args: Parameters<StoreReader[K]>) => Promise<ReturnType<StoreReader[K]>>;
};

/**
 * The store as seen from other threads than its own. Reads never block the writer. Every promise rejects with `StoreError`
 * when the store fails.
 */
export interface Records extends AsyncReads {
  /**
   * Durable when it resolves, with the bodies that the facts refer to. `isPatient`: it tells what happened beside a turn and
   * is treated as turns are: it may wait for a group commit, and while the database is away it is durable in this home, has no
   * number yet, and the answer is empty. All else is refused then.
   */
  append(
    facts: readonly NewFact[],
    blocks?: readonly Block[],
    isPatient?: boolean,
  ): Promise<readonly AppendResult[]>;
  erase(session: string, reason: string): Promise<Erasure>;
  /** A consistent copy in one new file. */
  snapshot(file: string): Promise<void>;
}

/**
 * The same store where answers take time: a database on another machine. All stores have this form, so that what records and
 * reads is written once; `Store` is the form of those that answer at once. Several processes may write to one.
 */
export interface AsyncStore extends AsyncReads {
  append(batch: Batch): Promise<readonly AppendResult[]>;
  erase(session: string, at: number, reason: string): Promise<Erasure>;
  expire(before: number, at: number, limit: number, upTo?: number): Promise<number>;
  rebuild(): Promise<void>;
  /** A consistent copy of everything in one new SQLite file. */
  snapshot(file: string): Promise<void>;
  /** Ends the turns that a dead process left open, as `crashed`: neither success nor failure. Returns their number. */
  endCrashed(at: number): Promise<number>;
  close(): Promise<void>;
}

/** A recorded turn with its request and reply decoded from the stored blocks. */
export interface DecodedTurn {
  readonly view: TurnView;
  readonly request: ChatRequest;
  readonly reply: readonly AssistantPart[];
  readonly stop: StopReason | undefined;
}

/** The state of recording, for `status`. */
export interface RecordingState {
  /** What is wrong; undefined when nothing is. */
  readonly degraded: string | undefined;
  /** Turns that were served and could not be recorded. */
  readonly lost: number;
  readonly recorded: number;
  /** What is missing of the record that this home had before: its store was deleted, emptied or replaced. */
  readonly missing?: string | undefined;
  /** Requests and replies that were recorded as text or as a size, because they could not be read. */
  readonly unreadable: number;
  /** Starts and ends of turns, and actions, that are not durable yet; a turn that runs counts. */
  readonly pending?: number;
  /** While the database is away, and until what happened meanwhile is in it. */
  readonly spool?: SpoolState | undefined;
}

/** What waits in the home for a database that is away. */
export type SpoolState = {
  /** Why the database is not written to; undefined once it answers and what waits is being written to it. */
  readonly reason?: string | undefined;
  /** It has failed. Else it is only slow to answer, or back. */
  readonly isAway: boolean;
  /** Since when, in milliseconds since the epoch. */
  readonly since: number;
  /** Turns that have ended and wait. */
  readonly turns: number;
  readonly bytes: number;
  readonly mostBytes: number;
};
