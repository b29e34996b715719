import { isObject, type Json, type JsonObject } from './json.ts';

/**
 * A setting of all gateways of a record changed: `path` are the keys from the root of the config. Without a value the
 * gateways share it no longer. A later fact replaces what an earlier one said about the same path or below it.
 */
export type SettingsFact = {
  readonly type: 'settings-changed';
  readonly path: readonly string[];
  readonly value?: Json;
};

/** The subject of facts about shared settings. */
export const SETTINGS_SUBJECT = 'gateways/settings';

/** What all gateways of a record share, as of one fact. */
export interface SharedSettings {
  /** The number of the last fact that is in it; 0 before the first. */
  readonly seq: number;
  /** In the shape of a config, with the shared settings alone. */
  readonly document: JsonObject;
}

export const NO_SHARED: SharedSettings = { seq: 0, document: {} };

/** The facts in their order; what is no fact about settings, or was written in a shape not known here, changes nothing. */
export const foldSharedSettings = (
  facts: readonly { readonly seq: number; readonly fact: { readonly type: string } }[],
): SharedSettings =>
  facts.reduce<SharedSettings>(({ seq: before, document }, { seq, fact }) => {
    if (!isSettingsFact(fact)) return { seq: before, document };
    const { path, value } = fact;
    const isPath = Array.isArray(path) && path.length > 0 && path.every((key) => typeof key === 'string');
    return { seq, document: isPath ? withSetting(document, path, value) : document };
  }, NO_SHARED);

const isSettingsFact = (fact: { readonly type: string }): fact is SettingsFact =>
  fact.type === 'settings-changed';

/** The document with a value at a path, or without one; groups that become empty are removed. */
export function withSetting(
  document: JsonObject,
  [key = '', ...rest]: readonly string[],
  value: Json | undefined,
): JsonObject {
  const { [key]: before, ...others } = document;
  const inner = isObject(before) ? before : {};
  const after = rest.length === 0 ? value : withSetting(inner, rest, value);
  const isGone = after === undefined || (rest.length > 0 && value === undefined && isEmpty(after));
  return isGone ? others : { ...others, [key]: after };
}

const isEmpty = (value: Json): boolean => isObject(value) && Object.keys(value).length === 0;
