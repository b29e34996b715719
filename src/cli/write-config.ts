import { copyFileSync, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { replaceFileSync } from '../base/atomic-file.ts';
import { checkConfig } from '../config/check-config.ts';
import { ConfigError } from '../config/config-error.ts';
import { KNOWN_PROVIDERS } from '../config/known-providers.ts';
import { readConfigFile } from '../config/load-config.ts';
import { configJsonSchema, type ProviderEntry } from '../config/schema.ts';
import { localServers } from '../doctor/check-models.ts';
import { CommandError, EXIT } from './context.ts';

/** A provider to configure and, optionally, the default model. */
export interface ProviderChoice {
  readonly name: string;
  readonly entry: ProviderEntry;
  readonly model?: string;
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
    throw new CommandError(
      EXIT.wrongUse,
      '--key-env and --pass-through exclude each other',
      'use one of them',
    );
  }
  const known = KNOWN_PROVIDERS.find((one) => one.name === name);
  const local = localServers(env).find((one) => one.name === name);
  const baseUrl = flags.baseUrl ?? known?.baseUrl ?? local?.baseUrl;
  if (baseUrl === undefined) {
    throw new CommandError(
      EXIT.wrongUse,
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

interface WrittenConfig {
  readonly file: string;
  readonly backup?: string;
}

export interface NextConfig {
  readonly settings: Settings;
  /** Whether the existing file was invalid, so that only its backup keeps its content. */
  readonly isFresh: boolean;
}

type Settings = Readonly<Record<string, unknown>>;

/**
 * The settings with the chosen provider added. Existing settings are kept unless the file is invalid. Throws
 * `ConfigError` when the result is not a valid config.
 */
export function addProvider(file: string, choice: ProviderChoice, env: NodeJS.ProcessEnv): NextConfig {
  const usable = readUsable(file, env);
  const before = usable ?? {};
  const providers = { ...membersOf(before.providers), [choice.name]: choice.entry };
  const models =
    choice.model === undefined
      ? before.models
      : { ...membersOf(before.models), default: `${choice.name}/${choice.model}` };
  const settings = {
    $schema: './config.schema.json',
    ...before,
    providers,
    ...(models !== undefined && { models }),
  };
  checkConfig(settings, { env });
  return { settings, isFresh: usable === undefined };
}

/** The settings with these sleep hours. Throws `ConfigError` for an invalid file or invalid hours. */
export function setSleep(file: string, sleep: string, env: NodeJS.ProcessEnv): Settings {
  const before = membersOf(readConfigFile(file));
  const settings = { ...before, schedule: { ...membersOf(before.schedule), sleep } };
  checkConfig(settings, { env });
  return settings;
}

/** Writes the config and, for editors, its JSON Schema. An existing config is kept as `.old`. */
export function writeConfig(file: string, settings: Settings): WrittenConfig {
  const backup = existsSync(file) ? `${file}.old` : undefined;
  if (backup !== undefined) copyFileSync(file, backup);
  replaceFileSync(join(dirname(file), 'config.schema.json'), render(configJsonSchema()));
  replaceFileSync(file, render(settings));
  return { file, ...(backup !== undefined && { backup }) };
}

const render = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

const membersOf = (value: unknown): Settings =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};

/** Undefined for a file that cannot be read or is invalid. */
function readUsable(file: string, env: NodeJS.ProcessEnv): Settings | undefined {
  try {
    const before = readConfigFile(file) ?? {};
    checkConfig(before, { env });
    return membersOf(before);
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}
