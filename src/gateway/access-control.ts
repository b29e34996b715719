import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { createLruMap } from '../base/lru-map.ts';
import type { Caller } from '../core/caller.ts';
import type { Clock } from '../core/clock.ts';
import { createFailure, type Failure } from '../core/failure.ts';
import type { Access, Target } from '../core/upstream.ts';

interface OriginCheckOptions {
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
export function createOriginCheck({
  host,
  port,
  allowedHosts,
}: OriginCheckOptions): (request: IncomingMessage) => Failure | undefined {
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

interface AuthorizerOptions {
  /** Read per request, so that a replaced key is invalid at once. */
  readonly key: () => string;
  /** Only on loopback, the embedded policy needs no key and a caller's own provider credentials are enough. */
  readonly onLoopback: boolean;
  readonly clock: Clock;
}

export interface Authorizer {
  /** The caller whose Instar key is in the headers; undefined without one. */
  callerOf(request: IncomingMessage): Caller | undefined;
  /** The credentials with which this caller may use this target, or why it may not. */
  forTarget(request: IncomingMessage, target: Target): AccessDecision;
  /** For Instar's own routes: undefined when the request carries Instar's key. */
  forOwner(request: IncomingMessage): Failure | undefined;
}

type AccessDecision =
  | {
      readonly ok: true;
      readonly access: Access;
      /** A caller with its own credential: known once the provider has accepted it. */
      readonly credential?: Caller;
    }
  | { readonly ok: false; readonly why: string; readonly failure: Failure };

const WRONG_PER_MINUTE = 10;
/** Callers send the same few keys with every request, so their digests are cached. */
const MOST_DIGESTS = 32;
const LONGEST_CACHED_KEY = 512;

/**
 * Counts wrong keys by address, loopback included: after ten in a minute the answer is 429. The right key is accepted even
 * then: guessing 256 bits is hopeless, and a lock-out would let one stale client shut out all others.
 */
export function createAuthorizer({ key, onLoopback, clock }: AuthorizerOptions): Authorizer {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  let current = { key: '', digest: digest('') };
  const isKey = (presented: string): boolean => {
    const now = key();
    if (now !== current.key) current = { key: now, digest: digest(now) };
    return now !== '' && timingSafeEqual(digestOf(presented), current.digest);
  };
  /** Caches digests of presented keys only; Instar's key is never compared as text. */
  const digests = createLruMap<string, Buffer>(MOST_DIGESTS);
  const digestOf = (presented: string): Buffer => {
    if (presented.length > LONGEST_CACHED_KEY) return digest(presented);
    let found = digests.get(presented);
    if (found === undefined) {
      found = digest(presented);
      digests.set(presented, found);
    }
    return found;
  };

  const wrong = new Map<string, { count: number; until: number }>();
  const countWrong = (request: IncomingMessage): Failure => {
    const now = clock.monotonic();
    const address = (request.socket.remoteAddress ?? '').replace(/^::ffff:/i, '');
    if (wrong.size > 10_000) wrong.clear();
    let tries = wrong.get(address);
    if (tries === undefined || tries.until <= now) {
      tries = { count: 0, until: now + 60_000 };
      wrong.set(address, tries);
    }
    tries.count++;
    if (tries.count > WRONG_PER_MINUTE) {
      const retryAfterMs = Math.ceil(tries.until - now);
      return createFailure('rate-limited', 'Too many wrong keys from this address. Wait a minute.', {
        retryAfterMs,
      });
    }
    return createFailure('unauthorized', WRONG_KEY, { code: 'invalid_api_key' });
  };

  const forOwner: Authorizer['forOwner'] = (request) => {
    const presented = presentedKeys(request.headers);
    if (presented.some(isKey)) return undefined;
    return presented.length > 0
      ? countWrong(request)
      : createFailure('unauthorized', NO_KEY, { code: 'invalid_api_key' });
  };

  return {
    forOwner,
    callerOf: ({ headers }) =>
      presentedKeys(headers).some(isKey) ? { kind: 'caller', id: 'key', mayRate: false } : undefined,
    forTarget: (request, target) => {
      const { access, upstreams, provider } = target;
      if (access.kind !== 'caller') {
        const failure = access.kind === 'open' && onLoopback ? undefined : forOwner(request);
        return failure === undefined ? { ok: true, access } : refusal(failure);
      }
      if (!onLoopback) {
        const separate = request.headers['x-instar-key'];
        if (typeof separate !== 'string') return refusal(createFailure('unauthorized', NO_SEPARATE_KEY));
        if (!isKey(separate)) return refusal(countWrong(request));
      }
      const presented = presentedKeys(request.headers, false);
      if (presented.some(isKey)) {
        // Instar's key is never sent to a provider. A local server is called without a key.
        if (isLocalTarget(target)) return { ok: true, access: { kind: 'open' } };
        const message = `Provider “${provider}” has no key in Instar’s config: send your own, or give the entry a keyEnv.`;
        return refusal(createFailure('unauthorized', message));
      }
      const isForeign = upstreams.every(({ wire }) => wire !== 'anthropic');
      if (isForeign && presented.some((value) => value.startsWith('sk-ant-'))) {
        return refusal(
          createFailure('unauthorized', `An Anthropic key is not sent to provider “${provider}”.`),
        );
      }
      const [own] = presented;
      if (own === undefined || isLocalTarget(target)) return { ok: true, access };
      const id = `credential-${digest(own).toString('hex').slice(0, 16)}`;
      return { ok: true, access, credential: { kind: 'credential', id, mayRate: false } };
    },
  };
}

/** A server on this machine accepts any credential: it does not tell who calls. */
const isLocalTarget = ({ upstreams }: Target): boolean =>
  upstreams.every(({ origin }) => isLoopbackName(new URL(origin).hostname));

/** Whether a caller without Instar's key brings a credential of its own, which this provider will check. */
export const bringsCredential = ({ headers }: IncomingMessage, target: Target | undefined): boolean =>
  target?.access.kind === 'caller' && presentedKeys(headers, false).length > 0 && !isLocalTarget(target);

const refusal = (failure: Failure): AccessDecision => ({ ok: false, why: failure.message, failure });

const NO_SEPARATE_KEY = 'From another machine, send Instar’s key too, in the x-instar-key header.';
const NO_KEY =
  'Instar’s key is missing: send it as "authorization: Bearer KEY" or "x-api-key: KEY". It is in the file `key` of Instar’s home.';
const WRONG_KEY = 'This is not Instar’s key. It is in the file `key` of Instar’s home (or INSTAR_KEY).';

function presentedKeys(headers: IncomingHttpHeaders, ownHeader = true): string[] {
  const keys: string[] = [];
  const bearer = /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
  if (bearer !== undefined) keys.push(bearer);
  const apiKey = headers['x-api-key'];
  if (typeof apiKey === 'string') keys.push(apiKey);
  const own = headers['x-instar-key'];
  if (ownHeader && typeof own === 'string') keys.push(own);
  return keys;
}
