import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { createFailure, type Failure } from '../core/failure.ts';

export interface DoorOptions {
  /** The address we listen on. */
  readonly host: string;
  readonly port: number;
  /** Host names allowed in the config, such as the machine's name on the local network. */
  readonly allowedHosts: readonly string[];
}

/**
 * Checks Host and Origin before any routing. The key is not enough: a page in the user's browser can reach loopback
 * too, by DNS rebinding or with a plain form.
 */
export function createDoor({
  host,
  port,
  allowedHosts,
}: DoorOptions): (request: IncomingMessage) => Failure | undefined {
  const names = new Set([
    '127.0.0.1',
    'localhost',
    '[::1]',
    ...allowedHosts.map((name) => name.toLowerCase()),
  ]);
  const onLoopback = isLoopbackName(host);
  /** Nearly all callers send the same authority, so the last accepted one is cached. */
  let lastAccepted: string | undefined;
  const isOurs = (authority: string): boolean => {
    if (authority === lastAccepted) return true;
    const isFound = namesUs(authority);
    if (isFound) lastAccepted = authority;
    return isFound;
  };
  const namesUs = (authority: string): boolean => {
    const match = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(authority.toLowerCase());
    if (match === null) return false;
    const [, name = '', givenPort = '80'] = match;
    if (Number(givenPort) !== port) return false;
    // A literal IP address cannot be rebound, so on an open interface every one is accepted.
    return names.has(name) || (!onLoopback && isIP(name.replace(/^\[|\]$/g, '')) !== 0);
  };

  return (request) => {
    const { headers, method = 'GET', url = '' } = request;
    if (!url.startsWith('/'))
      return createFailure('bad-request', 'Send a path, not a whole URL, in the request line.');
    if (countHeader(request, 'host') !== 1)
      return createFailure('bad-request', 'Send exactly one Host header.');
    if (!isOurs(headers.host ?? '')) {
      return createFailure(
        'forbidden',
        'This Host is not served here. Use http://127.0.0.1, or add the name to gateway.allowedHosts.',
      );
    }
    if (method === 'GET' || method === 'HEAD') return undefined;
    const { origin } = headers;
    if (origin !== undefined && !(origin.startsWith('http://') && isOurs(origin.slice('http://'.length)))) {
      return createFailure('forbidden', 'Requests from other web pages are refused.');
    }
    const site = headers['sec-fetch-site'];
    if (site !== undefined && site !== 'same-origin' && site !== 'none') {
      return createFailure('forbidden', 'Requests from other web pages are refused.');
    }
    return undefined;
  };
}

export const isLoopbackName = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

function countHeader(request: IncomingMessage, name: string): number {
  const { rawHeaders } = request;
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const raw = rawHeaders[i];
    if (raw?.length === name.length && raw.toLowerCase() === name) count++;
  }
  return count;
}

/** Only JSON content types, which a browser cannot send from a form without a preflight request. */
export function isJsonContent(type: string | undefined): boolean {
  if (type === 'application/json') return true;
  const essence = (type ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return essence === 'application/json' || (essence.startsWith('application/') && essence.endsWith('+json'));
}
