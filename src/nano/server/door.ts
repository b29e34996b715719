import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { Refusal } from './refusal.ts';

export interface DoorOptions {
  readonly host: string;
  readonly port: number;
  readonly key: string | undefined;
}

/** Throws a Refusal for a request that is not allowed. `isOpen` routes need no key; the Host is checked for all routes. */
export function createDoor({
  host,
  port,
  key,
}: DoorOptions): (request: IncomingMessage, isOpen: boolean) => void {
  const onLoopback = isLoopback(host);
  const wanted = key === undefined ? undefined : digest(key);
  /** Against DNS rebinding: a web page can make its own host name point to loopback, but its Host header has that name. */
  const isOurs = (authority: string): boolean => {
    const match = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(authority.toLowerCase());
    const [, name = '', givenPort = '80'] = match ?? [];
    if (Number(givenPort) !== port) return false;
    if (name === '127.0.0.1' || name === 'localhost' || name === '[::1]' || name === host.toLowerCase())
      return true;
    // A literal address cannot be rebound.
    return !onLoopback && isIP(name.replace(/^\[|\]$/g, '')) !== 0;
  };
  return ({ headers, url = '' }, isOpen) => {
    if (!url.startsWith('/'))
      throw new Refusal(400, 'Send a path, not an absolute URL, in the request line.');
    if (!isOurs(headers.host ?? ''))
      throw new Refusal(403, 'This Host is not allowed. Use http://127.0.0.1.');
    // Training clients send no Origin; web pages do.
    if (headers.origin !== undefined || (headers['sec-fetch-site'] ?? 'none') !== 'none')
      throw new Refusal(403, 'Requests from web pages are not allowed.');
    if (wanted === undefined || isOpen) return;
    const bearer = /^bearer (.+)$/i.exec(headers.authorization ?? '')?.[1];
    const given = headers['x-api-key'] ?? bearer;
    if (typeof given !== 'string' || !timingSafeEqual(digest(given), wanted))
      throw new Refusal(401, 'Send the API key as X-API-Key or as a bearer token.');
  };
}

export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
