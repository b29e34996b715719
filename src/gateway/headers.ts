import type { IncomingHttpHeaders } from 'node:http';
import type { Access } from '../core/upstream.ts';

export type HeaderMap = Record<string, string | string[]>;

/** Hop-by-hop headers, and what must be made anew for another connection. */
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
/** A browser's cookies for 127.0.0.1 belong to whatever else runs on this machine. */
const NOT_SENT = new Set(['host', 'content-length', 'expect', 'cookie', 'origin', 'referer']);
const CREDENTIALS = ['authorization', 'x-api-key', 'api-key', 'x-goog-api-key'] as const;
/** True of the provider's origin, false of ours: HSTS or alt-svc for loopback would break other programs on it. */
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

const KEPT_BACK: ReadonlySet<string> = new Set([...HOP, ...NOT_SENT]);
const KEPT_BACK_WITH_CREDENTIALS: ReadonlySet<string> = new Set([...KEPT_BACK, ...CREDENTIALS]);

/**
 * What goes to the provider: everything the client sent but for what belongs to this connection or to us. `isEdited`: the
 * body is no longer the client's bytes, and so not in their encoding.
 */
export function requestHeaders(incoming: IncomingHttpHeaders, access: Access, isEdited = false): HeaderMap {
  const keptBack = access.kind === 'caller' ? KEPT_BACK : KEPT_BACK_WITH_CREDENTIALS;
  const named = connectionNames(incoming.connection);
  const headers: HeaderMap = {};
  for (const name in incoming) {
    const value = incoming[name];
    if (value === undefined || keptBack.has(name) || isOurs(name) || named?.has(name)) continue;
    if (isEdited && name === 'content-encoding') continue;
    headers[name] = value;
  }
  return access.kind === 'own' ? Object.assign(headers, access.credentials()) : headers;
}

/** The caller's credentials alone, for a provider on another wire. */
export function credentialHeaders(incoming: IncomingHttpHeaders): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of CREDENTIALS) {
    const value = incoming[name];
    if (typeof value === 'string') found[name] = value;
  }
  return found;
}

export function replyHeaders(upstream: Readonly<Record<string, string | string[] | undefined>>): HeaderMap {
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
