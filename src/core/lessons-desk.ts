import type { JsonObject } from './json.ts';
import type { Lesson } from './lesson.ts';

/** What people and programs may ask about the library and do to it, in the shapes that scripts rely on. */
export interface LessonsDesk {
  /** `state` and `kind` narrow the list. */
  list(query: { readonly state?: string; readonly kind?: string }): Promise<readonly JsonObject[]>;
  /** All lessons as the library has them, for files that are written from them. */
  all(): Promise<readonly Lesson[]>;
  /** One lesson with its evidence, its measured effect and its history; undefined when there is none of that id or name. */
  show(idOrName: string): Promise<JsonObject | undefined>;
  /** What a turn was shown, what it was not, and why; undefined for an unknown turn. */
  why(turn: string): Promise<JsonObject | undefined>;
  /**
   * A person's changes, published as one: `{ changes, reason, shown? }`. `shown` maps ids to the hash of the words that
   * the person saw; a lesson that says something else by now is refused.
   */
  change(body: JsonObject): Promise<JsonObject>;
  /**
   * What a task would be shown: `{ task, agent?, project?, domain?, limit? }` → `{ text, lessons }`. It is shown to nobody
   * and counts for no measurement.
   */
  recall(query: JsonObject): Promise<JsonObject>;
  /** What to put in order: `{ waiting, same, contradictions, forgettable, changes }`; `changes` would do it. */
  review(): Promise<JsonObject>;
  generations(): Promise<readonly JsonObject[]>;
  /** Undefined when one of them never was. */
  diff(from: number, to: number): Promise<JsonObject | undefined>;
  /** Undefined when there never was such a generation. */
  rollback(to: number): Promise<JsonObject | undefined>;
}
