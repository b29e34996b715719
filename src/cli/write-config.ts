import { checkConfig } from '../config/check-config.ts';
import { ConfigError } from '../config/config-error.ts';
import { editConfig } from '../config/edit-config.ts';
import { KNOWN_PROVIDERS } from '../config/known-providers.ts';
import { readConfigFile } from '../config/load-config.ts';
import type { ProviderEntry } from '../config/schema.ts';
import { asObject, isObject, toJson } from '../core/json.ts';
import { localServers } from '../doctor/check-models.ts';
import { wrongUse } from './context.ts';

/** A provider to configure and, optionally, the default model. */
export interface ProviderChoice {
  readonly name: string;
  readonly entry: ProviderEntry;
  readonly model?: string;
  /** The model also writes lessons and judges unclear turns. */
  readonly learns?: true;
  /** Weights also train on the rewards of live traffic, or no longer do. */
  readonly live?: boolean;
}

export interface ProviderFlags {
  readonly provider: string;
  readonly wire?: string;
  readonly baseUrl?: string;
  readonly keyEnv?: string;
  readonly passThrough?: true;
  readonly model?: string;
}

/** The provider from the flags, completed with the known provider of that name. The entry is not validated yet. */
export function chooseProvider(flags: ProviderFlags, env: NodeJS.ProcessEnv): ProviderChoice {
  const { provider: name, model } = flags;
  if (flags.keyEnv !== undefined && flags.passThrough) {
    throw wrongUse('--key-env and --pass-through exclude each other', 'use one of them');
  }
  const known = KNOWN_PROVIDERS.find((one) => one.name === name);
  const local = localServers(env).find((one) => one.name === name);
  const baseUrl = flags.baseUrl ?? known?.baseUrl ?? local?.baseUrl;
  if (baseUrl === undefined) {
    throw wrongUse(
      `"${name}" is not a known provider, so --base-url is required`,
      `known providers: ${[...KNOWN_PROVIDERS, ...localServers(env)].map((one) => one.name).join(', ')}`,
    );
  }
  const wire = flags.wire === undefined ? (known?.wire ?? 'openai-chat') : parseWire(flags.wire);
  const keyEnv = flags.passThrough
    ? undefined
    : (flags.keyEnv ?? (flags.baseUrl ? undefined : known?.keyEnv));
  return {
    name,
    entry: { wire, baseUrl, ...(keyEnv !== undefined && { keyEnv }) },
    ...(model !== undefined && { model }),
  };
}

/** One wire or several, separated by commas. The schema checks the names. */
function parseWire(text: string): ProviderEntry['wire'] {
  const names = text.split(',').map((name) => name.trim());
  return (names.length === 1 ? names[0] : names) as ProviderEntry['wire'];
}

export interface NextConfig {
  /** The text of the file. */
  readonly text: string;
  /** Whether the existing file was invalid, so that only its backup keeps its content. */
  readonly isFresh: boolean;
}

/**
 * The config with the chosen provider added. Existing settings and their formatting are kept unless the file is invalid.
 * Throws `ConfigError` when the result is not a valid config.
 */
export function addProvider(file: string, choice: ProviderChoice, env: NodeJS.ProcessEnv): NextConfig {
  const { name, entry, model, learns, live } = choice;
  const aliases = model === undefined ? [] : learns === true ? ['default', 'evolver', 'judge'] : ['default'];
  const edits = [
    { path: ['providers', name], value: toJson(entry) },
    ...aliases.map((alias) => ({ path: ['models', alias], value: `${name}/${model}` })),
    ...(live === undefined ? [] : [{ path: ['train', 'live'], value: live }]),
  ];
  const isFresh = !isUsable(file, env);
  return { text: editConfig(file, edits, env, isFresh).text, isFresh };
}

/** Whether the config names a server that trains weights, and not yet whether live traffic counts there. */
export function lacksLiveTraining(file: string, env: NodeJS.ProcessEnv): boolean {
  if (!isUsable(file, env)) return false;
  const { engine, live } = asObject(asObject(readConfigFile(file)).train);
  return isObject(engine) && live === undefined;
}

/** Whether a file can be read and is valid, or does not exist. */
function isUsable(file: string, env: NodeJS.ProcessEnv): boolean {
  try {
    checkConfig(readConfigFile(file) ?? {}, { env });
    return true;
  } catch (error) {
    if (error instanceof ConfigError) return false;
    throw error;
  }
}
