import type { Access } from '../core/upstream.ts';
import type { WireName } from '../core/wire.ts';

type Credentials = Readonly<Record<string, string>>;

/** Sent on the Anthropic wire unless the credentials contain another; the provider refuses a request without one. */
const ANTHROPIC_VERSION = '2023-06-01';

/** The headers of one request to a provider. `caller` is used only if the provider entry has no key. */
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
 * Moves the caller's key to the header that the provider's wire uses. A bearer token stays one on the Anthropic wire
 * (subscriptions sign in that way) unless it is an API key.
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
