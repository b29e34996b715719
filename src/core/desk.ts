import type { JsonObject } from './json.ts';
import type { SessionQuery } from './store.ts';

/** What people and programs may ask of the daemon, in the JSON shapes that scripts rely on. */
export interface Desk {
  sessions(query: SessionQuery): Promise<readonly JsonObject[]>;
  /** A session with its turns and their rewards; undefined for an unknown id. */
  session(id: string): Promise<JsonObject | undefined>;
  /** The same with the requests and replies. */
  trajectory(id: string): Promise<JsonObject | undefined>;
  /** The number of turns erased; 0 for an unknown session. */
  erase(id: string): Promise<number>;
  /** Feedback as `POST /v1/feedback` takes it. */
  feedback(body: JsonObject): Promise<JsonObject>;
  /** The state of an episode: `{ state, attempts, failed, learns }`; undefined for an unknown id. */
  episode(id: string): Promise<JsonObject | undefined>;
  /** What training may use: `{ engine, policy, generation, buffer: { query, support } }`. */
  training(): Promise<JsonObject>;
  /** Starts a training window now, of `steps` or the default number of steps; `training` reports its progress. */
  startTraining(request: { readonly steps?: number }): Promise<JsonObject>;
  /** Moves weights one stage on, or back, for a person. Answers with what moved. */
  moveWeights(to: 'promote' | 'rollback'): Promise<readonly JsonObject[]>;
  /** Presence, whether background jobs may run, what they did and may still spend, and the next window. */
  schedule(): Promise<JsonObject>;
  /** Quiet hours that the recorded activity suggests, with the evidence. Changes nothing. */
  suggestWindows(): Promise<JsonObject>;
  /** Copies everything recorded into a new file. */
  backup(file: string): Promise<void>;
}
