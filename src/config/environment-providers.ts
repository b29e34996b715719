import { isLoopbackHost } from './address.ts';
import { findBaseUrlFault, PLAIN_HTTP_FAULT, sendsKeyInClear } from './base-url.ts';
import type { Problem } from './config-error.ts';
import { KNOWN_PROVIDERS, type KnownProvider } from './known-providers.ts';
import type { ProviderEntry } from './schema.ts';

interface EnvironmentProviders {
  readonly providers: Readonly<Record<string, ProviderEntry>>;
  /** `provider/model` for the alias `default`, from the first provider whose usual model is known. */
  readonly usual: string | undefined;
  readonly notes: readonly string[];
  readonly problems: readonly Problem[];
}

/** The providers whose variables are set: what is served when no provider was configured. */
export function environmentProviders(env: NodeJS.ProcessEnv, ownPort: number): EnvironmentProviders {
  const providers: Record<string, ProviderEntry> = {};
  const notes: string[] = [];
  const problems: Problem[] = [];
  for (const known of KNOWN_PROVIDERS) {
    if (!env[known.keyEnv]?.trim()) continue;
    const moved = movedBaseUrl(known, env);
    let baseUrl = moved ?? known.baseUrl;
    if (moved !== undefined && isOwnAddress(moved, ownPort)) {
      baseUrl = known.baseUrl;
      notes.push(`${known.baseUrlEnv?.name} points at Instar itself; ${known.name} is called at ${baseUrl}`);
    }
    const fault =
      findBaseUrlFault(baseUrl) ?? (sendsKeyInClear(baseUrl, true) ? PLAIN_HTTP_FAULT : undefined);
    if (fault) problems.push({ path: known.baseUrlEnv?.name ?? known.name, ...fault });
    else providers[known.name] = { wire: known.wire, baseUrl, keyEnv: known.keyEnv };
  }
  const first = KNOWN_PROVIDERS.find(({ name, usualModel }) => name in providers && usualModel !== undefined);
  return { providers, usual: first && `${first.name}/${first.usualModel}`, notes, problems };
}

function movedBaseUrl(known: KnownProvider, env: NodeJS.ProcessEnv): string | undefined {
  const given = known.baseUrlEnv && env[known.baseUrlEnv.name]?.trim().replace(/\/+$/, '');
  if (!known.baseUrlEnv || !given) return undefined;
  const { suffix } = known.baseUrlEnv;
  return given.endsWith(suffix) ? given : `${given}${suffix}`;
}

/** An agent's environment points at us; taking it for the provider's address would make us call ourselves. */
function isOwnAddress(text: string, ownPort: number): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  return port === ownPort && isLoopbackHost(url.hostname);
}
