import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Clock } from '../core/clock.ts';
import { createFailure, type Failure } from '../core/failure.ts';
import { createRecent } from '../core/recent.ts';
import type { Access, Target } from '../core/upstream.ts';
import { isLoopbackName } from './door.ts';

export interface AuthorizeOptions {
  /** Read per request: a key that was changed is out of force at once. */
  readonly key: () => string;
  /** On loopback alone the embedded policy is open and a caller's own credentials are enough. */
  readonly onLoopback: boolean;
  readonly clock: Clock;
}

export interface Authorize {
  /** With whose credentials this caller may use this target, or why it may not. */
  forTarget(request: IncomingMessage, target: Target): Admittance;
  /** For what is ours alone: undefined when Instar's key was shown. */
  forOwner(request: IncomingMessage): Failure | undefined;
}

export type Admittance =
  | { readonly access: Access; readonly refused?: never }
  | { readonly refused: Failure };

const WRONG_PER_MINUTE = 10;
/** Callers send the same few keys with every request. */
const MOST_DIGESTS = 32;
const LONGEST_REMEMBERED = 512;

/**
 * Wrong keys are counted by address, loopback included, and after ten in a minute are refused unread. The right
 * key opens even then: with 256 bits guessing is hopeless, and a lock-out would let one stale client shut out all others.
 */
export function createAuthorize({ key, onLoopback, clock }: AuthorizeOptions): Authorize {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  let known = { key: '', digest: digest('') };
  const isKey = (presented: string): boolean => {
    const current = key();
    if (current !== known.key) known = { key: current, digest: digest(current) };
    return current !== '' && timingSafeEqual(digestOf(presented), known.digest);
  };
  /** What was presented is looked up among what was presented before; with our key only digests are compared. */
  const digests = createRecent<string, Buffer>(MOST_DIGESTS);
  const digestOf = (presented: string): Buffer => {
    if (presented.length > LONGEST_REMEMBERED) return digest(presented);
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
    let seen = wrong.get(address);
    if (seen === undefined || seen.until <= now) {
      seen = { count: 0, until: now + 60_000 };
      wrong.set(address, seen);
    }
    seen.count++;
    if (seen.count > WRONG_PER_MINUTE) {
      const retryAfterMs = Math.ceil(seen.until - now);
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
        const refused = access.kind === 'open' && onLoopback ? undefined : forOwner(request);
        return refused === undefined ? { access } : { refused };
      }
      if (!onLoopback) {
        const separate = request.headers['x-instar-key'];
        if (typeof separate !== 'string') return { refused: createFailure('unauthorized', NO_SEPARATE_KEY) };
        if (!isKey(separate)) return { refused: countWrong(request) };
      }
      const presented = presentedKeys(request.headers, false);
      if (presented.some(isKey)) {
        // Our own key never travels to a provider. A local server that wants none is called without.
        if (upstreams.every(({ origin }) => isLoopbackName(new URL(origin).hostname)))
          return { access: { kind: 'open' } };
        const message = `Provider “${provider}” has no key in Instar’s config: send your own, or give the entry a keyEnv.`;
        return { refused: createFailure('unauthorized', message) };
      }
      const isForeign = upstreams.every(({ wire }) => wire !== 'anthropic');
      if (isForeign && presented.some((value) => value.startsWith('sk-ant-'))) {
        return {
          refused: createFailure('unauthorized', `An Anthropic key is not sent to provider “${provider}”.`),
        };
      }
      return { access };
    },
  };
}

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
