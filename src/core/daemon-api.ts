import type { JsonObject } from './json.ts';
import type { OverlayQuery } from './overlay.ts';
import type { Erasure, SessionQuery } from './store.ts';

/** What people and programs may ask of the daemon, in the JSON shapes that scripts rely on. */
/** A training window that somebody asks for. */
export interface TrainAsked {
  readonly steps?: number;
  /** First learn to follow lessons. */
  readonly reading?: boolean;
  /** Move rules that have a check into the weights. */
  readonly remember?: boolean;
}

export interface DaemonApi {
  /** With `preview`: what was asked and answered in each, and how it was rated. With `practice`: attempts of practice, too. */
  sessions(
    query: Omit<SessionQuery, 'withoutPractice'> & {
      readonly preview?: boolean;
      readonly practice?: boolean;
    },
  ): Promise<readonly JsonObject[]>;
  /** A session with its turns, their rewards and previews; undefined for an unknown id. */
  session(id: string, part?: SessionPart): Promise<JsonObject | undefined>;
  /** One turn of a person's agent with the question it works on; undefined for an unknown id. */
  turn(id: string): Promise<JsonObject | undefined>;
  /** The newest such turn, of one agent or of the first of these projects that has one; undefined when there is none. */
  newestTurn(query: NewestTurnQuery): Promise<JsonObject | undefined>;
  /** The same with the requests and replies, as they are stored or (`chat`) as chat messages, and with all that judged each turn. */
  trajectory(id: string, form?: { readonly chat?: boolean }): Promise<JsonObject | undefined>;
  /** Erases a session and what was learned from it. */
  erase(id: string): Promise<ErasureReport>;
  /** Feedback as `POST /v1/feedback` takes it. */
  feedback(body: JsonObject): Promise<JsonObject>;
  /** The state of an episode: `{ state, attempts, failed, learns, learned? }`; undefined for an unknown id. */
  episode(id: string): Promise<JsonObject | undefined>;
  /** What training may use: `{ engine, policy, generation, buffer: { query, support } }`. */
  training(): Promise<JsonObject>;
  /**
   * Starts a training window now, of `steps` or the default number of steps; `training` reports its progress. With nothing
   * to train on it does nothing and answers `{ started: false, why }`.
   */
  startTraining(request: TrainAsked): Promise<JsonObject>;
  /** Moves weights one stage on, or back, for a person. Answers with what moved. */
  moveWeights(to: 'promote' | 'rollback'): Promise<readonly JsonObject[]>;
  /**
   * Practice, by `do`: `status`, `plan`, `run`, `stop`, `report`, `tasks`, `task`, `add`, `exclude` (see `learn/practice`). Rejects
   * with what to change in a request that cannot be carried out.
   */
  practice(request: JsonObject): Promise<JsonObject>;
  /** Presence, whether background jobs may run, what they did and may still spend, the next window, and the windows of a day. */
  schedule(): Promise<JsonObject>;
  /**
   * Learning records of events, the candidates that they make and what became of them, and the figures of pipelines that reported their
   * stages: `{ events, candidates, counts, pipelines }`. Changes nothing.
   */
  adaptation(): Promise<JsonObject>;
  /**
   * Consolidates the library: `{ apply? }` → `{ changes: [{ step, id, names, why }], open, left, done, generation }`. Without `apply`
   * it only says what it would do, and why.
   */
  consolidate(request: JsonObject): Promise<JsonObject>;
  /** The overlays in force for an agent and a kind of run, with their payloads. */
  overlays(query: OverlayQuery): Promise<readonly JsonObject[]>;
  /** Whether Instar learns, and what waits to be learned from: `{ on, since?, waiting: [{ code, count, what, why, nextAt?, fix? }] }`. */
  learning(): Promise<JsonObject>;
  /** Turns learning on or off, for good: `{ on, was }`. */
  switchLearning(on: boolean): Promise<JsonObject>;
  /** Copies everything recorded into a new file. */
  backup(file: string): Promise<void>;
  /** A person says that the clock is right: `{ time, was }`; what expires does so again. */
  confirmTime(): Promise<JsonObject>;
}

/** A part of a session's turns. All of them without any of this. */
export interface SessionPart {
  /** The number of the first turn, counted from 1. Without it, the last `limit` turns. */
  readonly from?: number;
  /** The id of a turn: the part that has it, with turns before and after it. */
  readonly turn?: string;
  readonly limit?: number;
  /** Auxiliary calls are left out, and only counted. */
  readonly hidesAux?: boolean;
  /** With the whole texts. */
  readonly full?: boolean;
  /** With what it taught: `learned: { lessons, why?, waits, isRead }`. */
  readonly learned?: boolean;
}

export interface NewestTurnQuery {
  readonly agent?: string;
  /** Ids of projects, the most wanted first. */
  readonly projects?: readonly string[];
}

/** The keys of a home and the settings that only its owner may loosen. */
export interface KeysApi {
  /** `{ id, name, may, createdAt, revokedAt? }`, oldest first; never a key itself. */
  list(): Promise<readonly JsonObject[]>;
  /** `{ name, mayRate?, isOwn?, agents?, limits?, fallback? }` → `{ id, name, key }`. The key is in no other answer; an older key of the same name is revoked. */
  create(request: JsonObject): Promise<JsonObject>;
  /**
   * What the owner decides about a key: `{ agents?, isOwn?, limits?, fallback? }`; `limits` are texts such as `60 requests/minute`. `isOwn`: a client of the home's own person, who then has its lessons.
   * Undefined when no valid key has this id or name.
   */
  change(idOrName: string, request: JsonObject): Promise<JsonObject | undefined>;
  /** Revokes by id or name; answers with the revoked keys. */
  revoke(idOrName: string): Promise<readonly JsonObject[]>;
  /** Confirms settings of the config that wait for the owner: `{ "library.autonomy": "autonomous" }`. */
  confirm(settings: JsonObject): Promise<JsonObject>;
  /** All settings: `{ file, settings: [{ path, value, from, inForce? }], shared?, problem? }`. Secrets are replaced. */
  settings(): Promise<JsonObject>;
  /**
   * Writes one setting into the config file, and uses it: `{ path, value }`, or `{ path, unset: true }`. Answers like `reload`,
   * with the file, its backup and whether it said so already. Nothing is written when the result would not be valid. With
   * `shared: true` it is written into the record, for all gateways that share it.
   */
  setSetting(request: JsonObject): Promise<JsonObject>;
  /**
   * Reads the config file again: `{ applied, restart, unchanged, running, file, warnings }`, where `restart` are the
   * settings that change at the next start.
   */
  reload(): Promise<JsonObject>;
  /**
   * The members of the team, by `do`: `list`, `add`, `remove`, `role`, `share`, `key`, `revoke`, `shared`, `move` (see `team/members-api`).
   * `asker`: the member who asks; absent: an owner.
   */
  members(request: JsonObject): Promise<JsonObject>;
  /** The audit trail, newest first: `{ n, at, action, subject, key }`, with `fault` when its chain is broken. */
  audit(limit: number): Promise<JsonObject>;
}

export interface ErasureReport extends Omit<Erasure, 'turns'> {
  /** The number of turns; 0 for an unknown session. */
  readonly erased: number;
}

/** What people and programs may ask of the library and change in it, in the JSON shapes that scripts rely on. */
export interface LessonsApi {
  /** Filtered by `state` and `kind`. */
  list(query: { readonly state?: string; readonly kind?: string }): Promise<readonly JsonObject[]>;
  /** Every lesson in full, as `encodeLesson` writes it: for files that are written from them. */
  all(): Promise<readonly JsonObject[]>;
  /** One lesson with its evidence, its measured effect and its history; undefined for an unknown id or name. */
  show(idOrName: string): Promise<JsonObject | undefined>;
  /** Which lessons a turn was shown, which not, and why, for every lesson of the library; undefined for an unknown turn. */
  why(turn: string): Promise<JsonObject | undefined>;
  /** What was learned and changed since midnight, with sessions, scores and the cost of learning. */
  today(): Promise<JsonObject>;
  /**
   * A person's changes, published as one set: `{ changes, reason, shown? }`. `shown` maps ids to the hash of the text that
   * the person saw; a change to a lesson with another text is refused.
   */
  change(body: JsonObject): Promise<JsonObject>;
  /**
   * What a task would be shown: `{ task, agent?, project?, domain?, limit?, without? }` → `{ text, lessons }`; with a `name` instead of
   * the task, the whole text of that lesson, if the asker may see it. It does not count in
   * any measurement, unless it names an open `episode` that was begun with the key `by`: what that is shown is recorded.
   */
  recall(query: JsonObject): Promise<JsonObject>;
  /** Lessons that need attention: `{ waiting, same, contradictions, forgettable, changes }`; `changes` would resolve them. */
  review(): Promise<JsonObject>;
  generations(): Promise<readonly JsonObject[]>;
  /** Undefined when one of them does not exist. */
  diff(from: number, to: number): Promise<JsonObject | undefined>;
  /** Undefined for an unknown generation. */
  rollback(to: number): Promise<JsonObject | undefined>;
}

/** Everything that a person may ask of Instar. */
export interface OwnerApis {
  readonly api: DaemonApi;
  readonly lessonsApi: LessonsApi;
  readonly keysApi: KeysApi;
  /** What happens, `hello` first, until the signal is given. Absent where nothing runs that could tell. */
  readonly news?: (signal: AbortSignal) => AsyncGenerator<ToldEvent, void>;
}

/** An event of the page's feed (see `api/page/feed-events`). */
export interface ToldEvent {
  readonly event: string;
  readonly data: JsonObject;
}
