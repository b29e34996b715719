import type { IncomingHttpHeaders } from 'node:http';
import type { Access } from '../core/upstream.ts';

export type HeaderMap = Record<string, string | string[]>;

/** Hop-by-hop headers: they describe one connection and are never forwarded. */
const HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
]);
/** A browser's cookies for 127.0.0.1 belong to other programs on this machine. */
const NOT_SENT = new Set(['host', 'content-length', 'expect', 'cookie', 'origin', 'referer']);
const CREDENTIALS = ['authorization', 'x-api-key', 'api-key', 'x-goog-api-key'] as const;
/** Valid for the provider's origin only: HSTS or alt-svc for loopback would break other programs on it. */
const NOT_RETURNED = new Set([
  ...HOP,
  'set-cookie',
  'alt-svc',
  'strict-transport-security',
  'clear-site-data',
  'nel',
  'report-to',
  'reporting-endpoints',
  'location',
]);

const isOurs = (name: string) => name.startsWith('x-instar-');

const NOT_FORWARDED: ReadonlySet<string> = new Set([...HOP, ...NOT_SENT]);
const NOT_FORWARDED_WITH_CREDENTIALS: ReadonlySet<string> = new Set([...NOT_FORWARDED, ...CREDENTIALS]);

/**
 * The client's headers without those of this connection and those of Instar. `isEdited`: the body was changed, so it no
 * longer has the client's content-encoding.
 */
export function upstreamRequestHeaders(
  incoming: IncomingHttpHeaders,
  access: Access,
  isEdited = false,
): HeaderMap {
  const dropped = access.kind === 'caller' ? NOT_FORWARDED : NOT_FORWARDED_WITH_CREDENTIALS;
  const named = connectionNames(incoming.connection);
  const headers: HeaderMap = {};
  for (const name in incoming) {
    const value = incoming[name];
    if (value === undefined || dropped.has(name) || isOurs(name) || named?.has(name)) continue;
    if (isEdited && name === 'content-encoding') continue;
    headers[name] = value;
  }
  return access.kind === 'own' ? Object.assign(headers, access.credentials()) : headers;
}

/** Only the caller's credentials, for a provider on another wire. */
export function credentialHeaders(incoming: IncomingHttpHeaders): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of CREDENTIALS) {
    const value = incoming[name];
    if (typeof value === 'string') found[name] = value;
  }
  return found;
}

/** The client's trace context, for a provider on another wire: it is not ours to change. */
export function traceHeaders(incoming: IncomingHttpHeaders): Record<string, string> | undefined {
  const { traceparent, tracestate } = incoming;
  if (typeof traceparent !== 'string') return undefined;
  return typeof tracestate === 'string' ? { traceparent, tracestate } : { traceparent };
}

export function clientReplyHeaders(
  upstream: Readonly<Record<string, string | string[] | undefined>>,
): HeaderMap {
  const named = connectionNames(upstream.connection);
  const headers: HeaderMap = {};
  for (const name in upstream) {
    const value = upstream[name];
    if (value === undefined || NOT_RETURNED.has(name) || isOurs(name)) continue;
    if (name.startsWith('access-control-') || named?.has(name)) continue;
    headers[name] = value;
  }
  return headers;
}

function connectionNames(value: string | string[] | undefined): ReadonlySet<string> | undefined {
  if (value === undefined || value === 'keep-alive' || value === 'close') return undefined;
  return new Set(
    String(value)
      .toLowerCase()
      .split(',')
      .map((name) => name.trim()),
  );
}
