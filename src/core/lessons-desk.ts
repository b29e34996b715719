import type { JsonObject } from './json.ts';

/** What people and programs may ask of the library and change in it, in the JSON shapes that scripts rely on. */
export interface LessonsDesk {
  /** Filtered by `state` and `kind`. */
  list(query: { readonly state?: string; readonly kind?: string }): Promise<readonly JsonObject[]>;
  /** Every lesson in full, as `encodeLesson` writes it: for files that are written from them. */
  all(): Promise<readonly JsonObject[]>;
  /** One lesson with its evidence, its measured effect and its history; undefined for an unknown id or name. */
  show(idOrName: string): Promise<JsonObject | undefined>;
  /** Which lessons a turn was shown, which not, and why; undefined for an unknown turn. */
  why(turn: string): Promise<JsonObject | undefined>;
  /**
   * A person's changes, published as one set: `{ changes, reason, shown? }`. `shown` maps ids to the hash of the text that
   * the person saw; a change to a lesson with another text is refused.
   */
  change(body: JsonObject): Promise<JsonObject>;
  /**
   * What a task would be shown: `{ task, agent?, project?, domain?, limit? }` → `{ text, lessons }`. It does not count in
   * any measurement.
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
