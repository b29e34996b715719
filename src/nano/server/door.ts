import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { Refusal } from './refusal.ts';

export interface DoorOptions {
  readonly host: string;
  readonly port: number;
  readonly key: string | undefined;
}

/** Throws a Refusal for whoever may not come in. `isOpen` routes need no key; the Host is checked for all of them. */
export function createDoor({
  host,
  port,
  key,
}: DoorOptions): (request: IncomingMessage, isOpen: boolean) => void {
  const onLoopback = isLoopback(host);
  const wanted = key === undefined ? undefined : digest(key);
  /** A page in a browser can reach loopback by a name of its own that was made to point here. Its Host tells. */
  const isOurs = (authority: string): boolean => {
    const match = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(authority.toLowerCase());
    const [, name = '', givenPort = '80'] = match ?? [];
    if (Number(givenPort) !== port) return false;
    if (name === '127.0.0.1' || name === 'localhost' || name === '[::1]' || name === host.toLowerCase())
      return true;
    // A literal address cannot be made to point elsewhere.
    return !onLoopback && isIP(name.replace(/^\[|\]$/g, '')) !== 0;
  };
  return ({ headers, url = '' }, isOpen) => {
    if (!url.startsWith('/')) throw new Refusal(400, 'Send a path, not a whole URL, in the request line.');
    if (!isOurs(headers.host ?? ''))
      throw new Refusal(403, 'This Host is not served here. Use http://127.0.0.1.');
    // No program that trains has an Origin; a page that posts to us has.
    if (headers.origin !== undefined || (headers['sec-fetch-site'] ?? 'none') !== 'none')
      throw new Refusal(403, 'Requests from web pages are refused.');
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
