import type { Access } from '../core/upstream.ts';
import type { WireName } from '../core/wire.ts';

type Credentials = Readonly<Record<string, string>>;

/** Sent on the Anthropic wire unless the credentials name another; the provider refuses a request without it. */
const ANTHROPIC_VERSION = '2023-06-01';

/** The headers of one request to a provider. `caller` counts only where the provider entry has no key of its own. */
export function createProviderHeaders(
  wire: WireName,
  access: Access,
  caller: Credentials | undefined,
  stream: boolean,
): Record<string, string> {
  return {
    'content-type': 'application/json',
    accept: stream ? 'text/event-stream, application/json' : 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'instar',
    ...(wire === 'anthropic' ? { 'anthropic-version': ANTHROPIC_VERSION } : {}),
    ...credentialsFor(wire, access, caller),
  };
}

function credentialsFor(wire: WireName, access: Access, caller: Credentials | undefined): Credentials {
  if (access.kind === 'own') return access.credentials();
  if (access.kind === 'open' || caller === undefined) return {};
  return translateCredentials(wire, caller);
}

/**
 * A caller shows its key where its own wire wants it; the provider's wire may want it elsewhere. A bearer token
 * stays a bearer token on the Anthropic wire (that is how subscriptions sign in) unless it is an API key.
 */
function translateCredentials(wire: WireName, caller: Credentials): Credentials {
  const { authorization, 'x-api-key': apiKey, ...rest } = caller;
  if (wire === 'anthropic') {
    const bearer = /^bearer +(sk-ant-api\S*) *$/i.exec(authorization ?? '')?.[1];
    return apiKey === undefined && bearer !== undefined ? { ...rest, 'x-api-key': bearer } : caller;
  }
  if (apiKey === undefined || authorization !== undefined) return caller;
  return { ...rest, authorization: `Bearer ${apiKey}` };
}
