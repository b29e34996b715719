import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Clock } from '../core/clock.ts';
import { createFailure, type Failure } from '../core/failure.ts';
import { createRecent } from '../core/recent.ts';
import type { Access, Target } from '../core/upstream.ts';
import { isLoopbackName } from './door.ts';

export interface AuthorizeOptions {
  /** Read per request, so that a replaced key is invalid at once. */
  readonly key: () => string;
  /** Only on loopback, the embedded policy needs no key and a caller's own provider credentials are enough. */
  readonly onLoopback: boolean;
  readonly clock: Clock;
}

export interface Authorize {
  /** The credentials with which this caller may use this target, or why it may not. */
  forTarget(request: IncomingMessage, target: Target): Admittance;
  /** For Instar's own routes: undefined when the request carries Instar's key. */
  forOwner(request: IncomingMessage): Failure | undefined;
}

export type Admittance =
  | { readonly ok: true; readonly access: Access }
  | { readonly ok: false; readonly why: string; readonly failure: Failure };

const WRONG_PER_MINUTE = 10;
/** Callers send the same few keys with every request, so their digests are cached. */
const MOST_DIGESTS = 32;
const LONGEST_CACHED_KEY = 512;

/**
 * Counts wrong keys by address, loopback included: after ten in a minute the answer is 429. The right key is accepted even
 * then: guessing 256 bits is hopeless, and a lock-out would let one stale client shut out all others.
 */
export function createAuthorize({ key, onLoopback, clock }: AuthorizeOptions): Authorize {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  let current = { key: '', digest: digest('') };
  const isKey = (presented: string): boolean => {
    const now = key();
    if (now !== current.key) current = { key: now, digest: digest(now) };
    return now !== '' && timingSafeEqual(digestOf(presented), current.digest);
  };
  /** Caches digests of presented keys only; Instar's key is never compared as text. */
  const digests = createRecent<string, Buffer>(MOST_DIGESTS);
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

  const forOwner: Authorize['forOwner'] = (request) => {
    const presented = presentedKeys(request.headers);
    if (presented.some(isKey)) return undefined;
    return presented.length > 0
      ? countWrong(request)
      : createFailure('unauthorized', NO_KEY, { code: 'invalid_api_key' });
  };

  return {
    forOwner,
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
        if (upstreams.every(({ origin }) => isLoopbackName(new URL(origin).hostname)))
          return { ok: true, access: { kind: 'open' } };
        const message = `Provider “${provider}” has no key in Instar’s config: send your own, or give the entry a keyEnv.`;
        return refusal(createFailure('unauthorized', message));
      }
      const isForeign = upstreams.every(({ wire }) => wire !== 'anthropic');
      if (isForeign && presented.some((value) => value.startsWith('sk-ant-'))) {
        return refusal(
          createFailure('unauthorized', `An Anthropic key is not sent to provider “${provider}”.`),
        );
      }
      return { ok: true, access };
    },
  };
}

const refusal = (failure: Failure): Admittance => ({ ok: false, why: failure.message, failure });

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
