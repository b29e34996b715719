import { copyFileSync, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { replaceFileSync } from '../base/atomic-file.ts';
import { checkConfig } from '../config/check-config.ts';
import { ConfigError } from '../config/config-error.ts';
import { configJsonSchema } from '../config/json-schema.ts';
import { readConfigFile } from '../config/load-config.ts';
import type { ProviderChoice } from './provider-choice.ts';

export interface WrittenConfig {
  readonly file: string;
  readonly backup?: string;
}

export interface NextConfig {
  readonly settings: Settings;
  /** The file that was there could not be used, so nothing of it is kept but its backup. */
  readonly isFresh: boolean;
}

type Settings = Readonly<Record<string, unknown>>;

/**
 * The settings with the chosen provider in them: what a person wrote before stays, unless it could not be used.
 * Throws `ConfigError` when the result would not be a config.
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

/** The settings with these hours of sleep in them. Throws `ConfigError` for a file that cannot be used, or hours that cannot. */
export function setSleep(file: string, sleep: string, env: NodeJS.ProcessEnv): Settings {
  const before = membersOf(readConfigFile(file));
  const settings = { ...before, schedule: { ...membersOf(before.schedule), sleep } };
  checkConfig(settings, { env });
  return settings;
}

/** Writes the config and, for editors, its schema beside it; an older config is kept as `.old`. */
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

/** Undefined for a file that cannot be read or used. */
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
