import type { JsonObject } from './json.ts';
import type { SessionQuery } from './store.ts';

/** What people and programs may ask about the record, in the shapes that scripts rely on. */
export interface Desk {
  sessions(query: SessionQuery): Promise<readonly JsonObject[]>;
  /** A session with its turns and their rewards; undefined when there is none of that id. */
  session(id: string): Promise<JsonObject | undefined>;
  /** The same with what was asked and answered. */
  trajectory(id: string): Promise<JsonObject | undefined>;
  /** Turns erased; 0 when there is no such session. */
  erase(id: string): Promise<number>;
  /** Feedback as `POST /v1/feedback` takes it. */
  feedback(body: JsonObject): Promise<JsonObject>;
  /** How an episode stands: `{ state, attempts, failed, learns }`; undefined when there is none of that id. */
  episode(id: string): Promise<JsonObject | undefined>;
  /** What weights may be trained on: `{ engine, policy, generation, buffer: { query, support } }`. */
  training(): Promise<JsonObject>;
  /** Begins a window of training now, of so many steps or the usual number; `training` tells how it goes. */
  startTraining(request: { readonly steps?: number }): Promise<JsonObject>;
  /** Weights one stage on, or back, because a person says so; what moved. */
  moveWeights(to: 'promote' | 'rollback'): Promise<readonly JsonObject[]>;
  /** Who is there as far as can be seen, whether slow work may run, what it did and may spend, and the next window. */
  schedule(): Promise<JsonObject>;
  /** Quiet hours that the record of your own activity suggests, with the evidence. Changes nothing. */
  suggestWindows(): Promise<JsonObject>;
  /** Copies everything recorded into a new file. */
  backup(file: string): Promise<void>;
}
