import { isDeepStrictEqual } from 'node:util';
import { asArray, asObject, asString, isObject, type Json, type JsonObject, toJson } from '../core/json.ts';
import { openRedactor } from '../redact/open-redactor.ts';
import { type CheckedConfig, checkConfig } from './check-config.ts';
import { ConfigError } from './config-error.ts';
import { readConfigFile } from './load-config.ts';
import { type Config, configSchema } from './schema.ts';
import { leafPaths, renderPath, type SettingPath, settingAt, settingPaths } from './setting-path.ts';
import { checkWithShared, type SharedUse } from './shared-settings.ts';

/** One setting with the value that counts and where that value comes from. */
export interface DescribedSetting {
  readonly path: string;
  /** Null when it is not set and has no default. Secrets are replaced. */
  readonly value: Json;
  readonly from: 'default' | 'file' | 'environment' | 'shared';
  /** The value in the running daemon, where it is another one. */
  readonly inForce?: Json;
}

export interface DescribedSettings {
  readonly file: string;
  readonly settings: readonly DescribedSetting[];
  /** What the gateways of the record share, and what this one makes of it. */
  readonly shared: readonly DescribedShared[];
  /** Why the file cannot be used; the settings are those in force then, or else the defaults. */
  readonly problem?: string;
}

export interface DescribedShared {
  readonly path: string;
  readonly value: Json;
  readonly state: 'used' | 'overruled' | 'ignored';
  /** Of an ignored one. */
  readonly why?: string;
}

interface DescribeOptions {
  readonly file: string;
  readonly env: NodeJS.ProcessEnv;
  /** The settings of the running daemon. */
  readonly running?: Config;
  /** What the gateways of the record share. */
  readonly shared?: JsonObject;
}

/** All settings as this environment gives them. Never throws for an invalid file. */
export function describeSettings(options: DescribeOptions): DescribedSettings {
  const { file, running } = options;
  const { input, config, source, problem, shared } = readSettings(options);
  const hide = openRedactor().redactObject;
  const shown = (path: SettingPath, value: unknown): Json =>
    hide({ value: hideSecret(path, value) }).value ?? null;
  const settings = pathsOf(config).map((path): DescribedSetting => {
    const value = settingAt(config, path);
    const now = running === undefined ? value : settingAt(running, path);
    return {
      path: renderPath(path),
      value: shown(path, value),
      from: problem === undefined ? originOf(path, { input, source, shared }) : guessedOrigin(path, value),
      ...(isDeepStrictEqual(now, value) ? {} : { inForce: shown(path, now) }),
    };
  });
  return {
    file,
    settings,
    shared: describeShared(options.shared ?? {}, shared),
    ...(problem === undefined ? {} : { problem }),
  };
}

function describeShared(document: JsonObject, use: SharedUse | undefined): readonly DescribedShared[] {
  return leafPaths(document)
    .filter((path) => path.length > 0)
    .map((path): DescribedShared => {
      const [name, value] = [renderPath(path), (settingAt(document, path) ?? null) as Json];
      const ignored = use?.ignored.find((one) => one.path === name);
      if (ignored !== undefined) return { path: name, value, state: 'ignored', why: ignored.why };
      return { path: name, value, state: use?.overruled.includes(name) === true ? 'overruled' : 'used' };
    })
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

interface ReadSettings extends Pick<CheckedConfig, 'config' | 'source'> {
  readonly shared?: SharedUse | undefined;
  readonly input: unknown;
  readonly problem?: string;
}

function readSettings({ file, env, running, shared = {} }: DescribeOptions): ReadSettings {
  let input: unknown;
  try {
    input = readConfigFile(file) ?? {};
    return { input, ...checkWithShared(input, shared, { env }) };
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
  { input, source, shared }: Pick<ReadSettings, 'input' | 'source' | 'shared'>,
): DescribedSetting['from'] {
  if (settingAt(input, path) !== undefined) return 'file';
  if (shared?.used.includes(renderPath(path)) === true) return 'shared';
  const isProvider = path[0] === 'providers' || (path[0] === 'models' && path[1] === 'default');
  return source === 'environment' && isProvider ? 'environment' : 'default';
}

/** Of a value in force, when its file cannot be read any more. */
const guessedOrigin = (path: SettingPath, value: unknown): DescribedSetting['from'] =>
  isDeepStrictEqual(value, settingAt(configSchema.parse({}), path)) ? 'default' : 'file';

/** The settings of a config: every one of the schema, and those below the names that it has. */
function pathsOf(config: Config): readonly SettingPath[] {
  const given = leafPaths(config).filter(([section]) => section !== '$schema');
  const known = settingPaths()
    .filter((path) => !path.includes('*') && path !== '$schema')
    .map((path) => path.split('.'));
  // Members of an absent group are not listed: the group is.
  const missing = known.flatMap((path): readonly SettingPath[] => {
    const depth = path.findIndex((_, index) => settingAt(config, path.slice(0, index + 1)) === undefined);
    if (depth < 0 || !isObject(depth === 0 ? config : settingAt(config, path.slice(0, depth)))) return [];
    return [path.slice(0, depth + 1)];
  });
  const all = [...given, ...missing];
  const texts = all.map(renderPath);
  const order = [...new Set(settingPaths().map((path) => path.split('.')[0] ?? ''))];
  return all
    .filter((_, index) => texts.indexOf(texts[index] ?? '') === index)
    .toSorted((a, b) => order.indexOf(String(a[0])) - order.indexOf(String(b[0])));
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
export const decodeSettings = ({ file, settings, shared, problem }: JsonObject): DescribedSettings => ({
  file: asString(file) ?? '',
  settings: asArray(settings)
    .map(asObject)
    .map(({ path, value = null, from, inForce }) => ({
      path: asString(path) ?? '',
      value,
      from: from === 'file' || from === 'environment' || from === 'shared' ? from : 'default',
      ...(inForce === undefined ? {} : { inForce }),
    })),
  shared: asArray(shared)
    .map(asObject)
    .map(({ path, value = null, state, why }) => ({
      path: asString(path) ?? '',
      value,
      state: state === 'overruled' || state === 'ignored' ? state : 'used',
      ...(typeof why === 'string' ? { why } : {}),
    })),
  ...(typeof problem === 'string' ? { problem } : {}),
});

/** For the API. */
export const encodeSettings = ({ file, settings, shared, problem }: DescribedSettings): JsonObject => ({
  file,
  settings: settings.map((setting) => toJson(setting)),
  shared: shared.map((setting) => toJson(setting)),
  ...(problem === undefined ? {} : { problem }),
});
