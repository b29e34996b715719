import type { Json } from '../core/json.ts';
import type { Path } from './json-edit.ts';
import type { Dialect } from './json-text.ts';
import type { TomlBlock, TomlTrace } from './toml-block.ts';

/** One member of a JSON file. */
export interface Setting {
  readonly path: Path;
  readonly value: Json;
  /**
   * Below the value, the part that tells whether a member which has changed since is still ours, for clients that write
   * into what we wrote. Empty: it is, because of its name. Without it every part must be as we wrote it.
   */
  readonly mark?: Path;
}

/** What is to be put into one file of a client's. */
export type FileEdit =
  | {
      readonly kind: 'json';
      readonly file: string;
      readonly dialect: Dialect;
      readonly settings: readonly Setting[];
    }
  | { readonly kind: 'toml'; readonly file: string; readonly block: TomlBlock };

/** Everything that points one client at the gateway. */
export interface Plan {
  readonly edits: readonly FileEdit[];
  /** What a person should know. */
  readonly notes: readonly string[];
}

/** A member that was set: what it was, and how much of its path there was. */
export interface SetMember extends Setting {
  /** The text of the value that was there. */
  readonly before?: string;
  readonly depth: number;
}

/** How an edit is taken out again when its file has changed since. */
export type Undo =
  | { readonly kind: 'json'; readonly dialect: Dialect; readonly members: readonly SetMember[] }
  | { readonly kind: 'toml'; readonly trace: TomlTrace };
