import { copyFileSync, existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { replaceFileSync } from '../base/atomic-file.ts';
import { asArray, asString, isObject, type Json, type JsonObject, parseJson } from '../core/json.ts';
import { closestWord } from '../text/closest-word.ts';
import { removeMember, setMember } from '../text/json-edit.ts';
import { type CheckedConfig, checkConfig } from './check-config.ts';
import { ConfigError, type Problem } from './config-error.ts';
import { readConfigFile } from './load-config.ts';
import { findRemoved, insteadOf } from './removed-settings.ts';
import { configJsonSchema } from './schema.ts';
import {
  parseSettingPath,
  renderPath,
  type SettingPath,
  settingAt,
  settingPaths,
  typesAt,
} from './setting-path.ts';

/** One setting to write, or without a value one to remove, so that its default counts again. */
interface SettingEdit {
  readonly path: SettingPath;
  readonly value?: Json;
}

interface EditedConfig {
  /** The whole text of the file, with the edits. */
  readonly text: string;
  readonly checked: CheckedConfig;
  /** Whether the file says this already. */
  readonly isSame: boolean;
}

/**
 * The config file with these edits: the rest of its text stays as it is. Everything is checked before anything is written;
 * throws `ConfigError` when the file is no JSON, or when the result would be no valid config.
 */
export function editConfig(
  file: string,
  edits: readonly SettingEdit[],
  env: NodeJS.ProcessEnv,
  /** Begins with an empty config, whatever the file has. */
  isFresh = false,
): EditedConfig {
  const before = isFresh ? undefined : readConfigFile(file);
  const start = before === undefined ? FRESH : readFileSync(file, 'utf8');
  const text = edits.reduce((so, edit) => applyEdit(so, edit), start);
  const after = parseJson(text.replace(/^\ufeff/, ''));
  const checked = check(before, after, file, env);
  return { text, checked, isSame: isDeepStrictEqual(before, after) };
}

/** The config file without the settings that are no longer there; undefined when it has none of them. */
export function editRemoved(file: string, env: NodeJS.ProcessEnv): EditedConfig | undefined {
  const removed = findRemoved(readConfigFile(file));
  return removed.length === 0 ? undefined : editConfig(file, removed, env);
}

const FRESH = '{\n  "$schema": "./config.schema.json"\n}\n';

function check(before: unknown, after: unknown, file: string, env: NodeJS.ProcessEnv): CheckedConfig {
  const [old, found] = [before ?? {}, after].map((input) => problemsOf(input, env));
  const fresh = found?.filter((problem) => !old?.some((one) => isDeepStrictEqual(one, problem))) ?? [];
  if (found === undefined || found.length === 0) return checkConfig(after, { env });
  const what =
    fresh.length > 0
      ? 'was not changed'
      : 'was not changed: fix this first, by hand or with: instar config set';
  throw new ConfigError([...(fresh.length > 0 ? fresh : found), { path: file, what }]);
}

function problemsOf(input: unknown, env: NodeJS.ProcessEnv): readonly Problem[] {
  try {
    checkConfig(input, { env });
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

/** A member of a list is set by writing the list. */
function applyEdit(text: string, { path, value }: SettingEdit): string {
  const before: unknown = JSON.parse(text.replace(/^\ufeff/, ''));
  const inList = path.findIndex((key) => typeof key === 'number');
  const place = (inList < 0 ? path : path.slice(0, inList)).map(String);
  const rest = inList < 0 ? [] : path.slice(inList);
  if (rest.length > 0)
    return setMember(text, place, withMember(settingAt(before, place), rest, value, path), 'json');
  if (value !== undefined) return setMember(openParents(text, before, place), place, value, 'json');
  return removeMember(text, place, 'json');
}

/** The value with a member of its lists set or removed. */
function withMember(
  list: unknown,
  [key, ...rest]: SettingPath,
  value: Json | undefined,
  whole: SettingPath,
): Json {
  if (typeof key === 'number' && (!Array.isArray(list) || key > list.length))
    throw new ConfigError([
      { path: renderPath(whole), what: 'is not in the list', fix: 'set the list as a whole, as JSON' },
    ]);
  const next = (inner: unknown): Json | undefined =>
    rest.length === 0 ? value : withMember(inner, rest, value, whole);
  if (typeof key !== 'number') {
    const { [String(key)]: inner, ...others } = isObject(list) ? list : {};
    const made = next(inner);
    return made === undefined ? others : { ...others, [String(key)]: made };
  }
  const made = next(asList(list)[key]);
  return made === undefined ? asList(list).toSpliced(key, 1) : asList(list).toSpliced(key, 1, made);
}

const asList = (value: unknown): readonly Json[] & Json[] => (Array.isArray(value) ? value : []);

/** A parent that is a word, such as `train.engine: "nano"`, gives way to an object. */
function openParents(text: string, before: unknown, place: readonly string[]): string {
  for (let length = 1; length < place.length; length++) {
    const parent = settingAt(before, place.slice(0, length));
    if (parent !== undefined && !isObject(parent)) return setMember(text, place.slice(0, length), {}, 'json');
  }
  return text;
}

interface WrittenConfig {
  readonly file: string;
  /** The file as it was. */
  readonly backup?: string;
}

/** Replaces the file atomically, a linked file at its target, and writes the JSON Schema beside it, for editors. */
export function writeConfigText(file: string, text: string): WrittenConfig {
  const place = existsSync(file) ? realpathSync(file) : file;
  const backup = existsSync(place) ? `${place}.old` : undefined;
  if (backup !== undefined) copyFileSync(place, backup);
  const schema = `${JSON.stringify(configJsonSchema(), null, 2)}\n`;
  replaceFileSync(join(dirname(place), 'config.schema.json'), schema, { makeFolder: true });
  replaceFileSync(place, text);
  return { file: place, ...(backup !== undefined && { backup }) };
}

/** Reads a path as a person types it. Throws `ConfigError` with the closest setting when no config can have it. */
export function readSettingPath(text: string): SettingPath {
  const path = parseSettingPath(text);
  if (path !== undefined && typesAt(path).size > 0) return path;
  const now = insteadOf(text);
  if (now !== undefined) throw new ConfigError([{ path: text, what: `is no longer a setting: ${now}` }]);
  const names = [...settingPaths(), ...sectionsOf(settingPaths())];
  const meant = closestWord(text, names);
  throw new ConfigError([
    {
      path: text.slice(0, 128) || '""',
      what: 'is not a setting',
      fix:
        meant === undefined
          ? 'see them all with: instar config get --all'
          : `did you mean ${JSON.stringify(meant)}?`,
    },
  ]);
}

const sectionsOf = (paths: readonly string[]): readonly string[] => [
  ...new Set(
    paths.flatMap((path) => path.split('.').map((_, index, keys) => keys.slice(0, index).join('.'))),
  ),
];

/** A value as a person types it: JSON where the setting takes that type, else a bare word or text. */
export function readSettingValue(path: SettingPath, text: string): Json {
  const types = typesAt(path);
  const json = parseJson(text);
  const fits = json !== undefined && typesOf(json).some((type) => types.has(type));
  return fits || (json !== undefined && !types.has('string')) ? json : text;
}

function typesOf(value: Json): readonly string[] {
  if (value === null) return ['null'];
  if (Array.isArray(value)) return ['array'];
  return Number.isInteger(value) ? ['integer', 'number'] : [typeof value];
}

/** The request of the API: `{ path, value }`, the path as text or as a list of keys, or `{ path, unset: true }`, also for a key of the file that is no setting. */
export function readSettingEdit(request: JsonObject, file: string): SettingEdit {
  const keys = asArray(request.path).filter((key) => typeof key === 'string' || typeof key === 'number');
  const text = keys.length > 0 ? renderPath(keys) : (asString(request.path) ?? '');
  const path = keys.length > 0 ? keys : parseSettingPath(text);
  const isUnset = request.unset === true;
  if (isUnset && path !== undefined && settingAt(readConfigFile(file), path) !== undefined) return { path };
  if (isUnset) return { path: readSettingPath(text) };
  if (request.value === undefined)
    throw new ConfigError([{ path: 'value', what: 'is missing', fix: 'send value, or unset: true' }]);
  if (path !== undefined && typesAt(path).size > 0) return { path, value: request.value };
  return { path: readSettingPath(text), value: request.value };
}
