import { isDeepStrictEqual } from 'node:util';
import { asArray, asObject, asString, isObject, type Json, type JsonObject, toJson } from '../core/json.ts';
import { openRedactor } from '../redact/open-redactor.ts';
import { type CheckedConfig, checkConfig } from './check-config.ts';
import { ConfigError } from './config-error.ts';
import { readConfigFile } from './load-config.ts';
import { type Config, configSchema } from './schema.ts';
import { renderPath, type SettingPath, settingPaths, valueAt } from './setting-path.ts';

/** One setting with the value that counts and where that value comes from. */
export interface DescribedSetting {
  readonly path: string;
  /** Null when it is not set and has no default. Secrets are replaced. */
  readonly value: Json;
  readonly from: 'default' | 'file' | 'environment';
  /** The value in the running daemon, where it is another one. */
  readonly inForce?: Json;
}

export interface DescribedSettings {
  readonly file: string;
  readonly settings: readonly DescribedSetting[];
  /** Why the file cannot be used; the settings are those in force then, or else the defaults. */
  readonly problem?: string;
}

interface DescribeOptions {
  readonly file: string;
  readonly env: NodeJS.ProcessEnv;
  /** The settings of the running daemon. */
  readonly running?: Config;
}

/** All settings as this environment gives them. Never throws for an invalid file. */
export function describeSettings({ file, env, running }: DescribeOptions): DescribedSettings {
  const read = readSettings(file, env, running);
  const { input, config, source, problem } = read;
  const hide = openRedactor().redactObject;
  const shown = (path: SettingPath, value: unknown): Json =>
    hide({ value: hideSecret(path, value) }).value ?? null;
  const settings = pathsOf(config).map((path): DescribedSetting => {
    const value = valueAt(config, path);
    const now = running === undefined ? value : valueAt(running, path);
    return {
      path: renderPath(path),
      value: shown(path, value),
      from: problem === undefined ? originOf(path, input, source) : guessedOrigin(path, value),
      ...(isDeepStrictEqual(now, value) ? {} : { inForce: shown(path, now) }),
    };
  });
  return { file, settings, ...(problem === undefined ? {} : { problem }) };
}

interface ReadSettings extends Pick<CheckedConfig, 'config' | 'source'> {
  readonly input: unknown;
  readonly problem?: string;
}

function readSettings(file: string, env: NodeJS.ProcessEnv, running: Config | undefined): ReadSettings {
  let input: unknown;
  try {
    input = readConfigFile(file) ?? {};
    return { input, ...checkConfig(input, { env }) };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const fallback = checkConfig({}, { env });
    const problem = error.message;
    return running === undefined
      ? { input: undefined, ...fallback, problem }
      : { input, config: running, source: 'file', problem };
  }
}

function originOf(
  path: SettingPath,
  input: unknown,
  source: CheckedConfig['source'],
): DescribedSetting['from'] {
  if (valueAt(input, path) !== undefined) return 'file';
  const isProvider = path[0] === 'providers' || (path[0] === 'models' && path[1] === 'default');
  return source === 'environment' && isProvider ? 'environment' : 'default';
}

/** Of a value in force, when its file cannot be read any more. */
const guessedOrigin = (path: SettingPath, value: unknown): DescribedSetting['from'] =>
  isDeepStrictEqual(value, valueAt(configSchema.parse({}), path)) ? 'default' : 'file';

/** The settings of a config: every one of the schema, and those below the names that it has. */
function pathsOf(config: Config): readonly SettingPath[] {
  const given = leavesOf(config, []);
  const known = settingPaths()
    .filter((path) => !path.includes('*') && path !== '$schema')
    .map((path) => path.split('.'));
  // Members of an absent group are not listed: the group is.
  const missing = known.flatMap((path): readonly SettingPath[] => {
    const depth = path.findIndex((_, index) => valueAt(config, path.slice(0, index + 1)) === undefined);
    if (depth < 0 || !isObject(depth === 0 ? config : valueAt(config, path.slice(0, depth)))) return [];
    return [path.slice(0, depth + 1)];
  });
  const all = [...given, ...missing];
  const texts = all.map(renderPath);
  const order = [...new Set(settingPaths().map((path) => path.split('.')[0] ?? ''))];
  return all
    .filter((_, index) => texts.indexOf(texts[index] ?? '') === index)
    .toSorted((a, b) => order.indexOf(String(a[0])) - order.indexOf(String(b[0])));
}

/** Lists and empty objects are values. */
function leavesOf(value: unknown, path: SettingPath): readonly SettingPath[] {
  if (!isObject(value) || (Object.keys(value).length === 0 && path.length > 0))
    return path[0] === '$schema' ? [] : [path];
  return Object.entries(value).flatMap(([key, member]) =>
    member === undefined ? [] : leavesOf(member, [...path, key]),
  );
}

/** Addresses that are secrets themselves, or that contain one. */
const SECRET_ADDRESSES = new Set(['schedule.calendar.ics', 'schedule.calendar.caldav', 'store.url']);

function hideSecret(path: SettingPath, value: unknown): Json {
  const isAddress = SECRET_ADDRESSES.has(path.join('.')) && typeof value === 'string';
  if (!isAddress || !/^[a-z][a-z0-9+.-]*:\/\//i.test(value)) return value as Json;
  return URL.canParse(value)
    ? `${new URL(value).protocol}//${new URL(value).hostname}/… (hidden)`
    : '(hidden)';
}

/** What `encodeSettings` wrote. */
export const decodeSettings = ({ file, settings, problem }: JsonObject): DescribedSettings => ({
  file: asString(file) ?? '',
  settings: asArray(settings)
    .map(asObject)
    .map(({ path, value = null, from, inForce }) => ({
      path: asString(path) ?? '',
      value,
      from: from === 'file' || from === 'environment' ? from : 'default',
      ...(inForce === undefined ? {} : { inForce }),
    })),
  ...(typeof problem === 'string' ? { problem } : {}),
});

/** For the API. */
export const encodeSettings = ({ file, settings, problem }: DescribedSettings): JsonObject => ({
  file,
  settings: settings.map((setting) => toJson(setting)),
  ...(problem === undefined ? {} : { problem }),
});
