import { localServers } from '../app/local-servers.ts';
import { KNOWN_PROVIDERS } from '../config/known-providers.ts';
import type { ProviderEntry } from '../config/schema.ts';
import { CommandError, EXIT } from './command-error.ts';

/** One provider a person wants, and the model that should answer by default. */
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

/** What the flags say, with what is known of the provider for the rest. The entry is not checked yet. */
export function chooseProvider(flags: ProviderFlags, env: NodeJS.ProcessEnv): ProviderChoice {
  const { provider: name, model } = flags;
  if (flags.keyEnv !== undefined && flags.passThrough) {
    throw new CommandError(
      EXIT.wrongUse,
      '--key-env and --pass-through exclude each other',
      'give one of them',
    );
  }
  const known = KNOWN_PROVIDERS.find((one) => one.name === name);
  const local = localServers(env).find((one) => one.name === name);
  const baseUrl = flags.baseUrl ?? known?.baseUrl ?? local?.baseUrl;
  if (baseUrl === undefined) {
    throw new CommandError(
      EXIT.wrongUse,
      `"${name}" is not a provider Instar knows, so it needs --base-url`,
      `known: ${[...KNOWN_PROVIDERS, ...localServers(env)].map((one) => one.name).join(', ')}`,
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

/** One wire or several with commas; the schema says which exist. */
function parseWire(text: string): ProviderEntry['wire'] {
  const names = text.split(',').map((name) => name.trim());
  return (names.length === 1 ? names[0] : names) as ProviderEntry['wire'];
}
