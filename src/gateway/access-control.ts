import { createHash, randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { createLruMap } from '../base/lru-map.ts';
import { type BoundAttempt, type Caller, isOwnKey, PRACTICE } from '../core/caller.ts';
import type { Clock } from '../core/clock.ts';
import { createFailure, type FailedResult, type Failure, refusal } from '../core/failure.ts';
import type { Access, Target } from '../core/upstream.ts';
import { credentialHeaders } from './headers.ts';
import type { ProviderAccount } from './provider-account.ts';

interface OriginCheckOptions {
  /** The address we listen on. */
  readonly host: string;
  readonly port: number;
  /** Host names allowed in the config, such as the machine's name on the local network. */
  readonly allowedHosts: readonly string[];
  /** A proxy with TLS stands before us: pages have an address with https. */
  readonly isBehindProxy?: boolean;
}

/**
 * Checks Host and Origin before any routing. The key is not enough: a page in the user's browser can reach loopback
 * too, by DNS rebinding or with a plain form.
 */
export function createOriginCheck({
  host,
  port,
  allowedHosts,
  isBehindProxy = false,
}: OriginCheckOptions): (request: IncomingMessage) => Failure | undefined {
  const names = new Set([
    '127.0.0.1',
    'localhost',
    '[::1]',
    (isIP(host) === 6 ? `[${host}]` : host).toLowerCase(),
  ]);
  const allowed = new Set(allowedHosts.map((name) => (isIP(name) === 6 ? `[${name}]` : name).toLowerCase()));
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
    // The user named it: behind a reverse proxy the port is the proxy's.
    if (allowed.has(name)) return true;
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
    if (origin !== undefined && !isOurs(authorityOf(origin, isBehindProxy))) {
      return createFailure('forbidden', 'Requests from other web pages are refused.');
    }
    const site = headers['sec-fetch-site'];
    if (site !== undefined && site !== 'same-origin' && site !== 'none') {
      return createFailure('forbidden', 'Requests from other web pages are refused.');
    }
    return undefined;
  };
}

/** Empty, which no Host is, for an origin of another scheme. */
function authorityOf(origin: string, isBehindProxy: boolean): string {
  if (origin.startsWith('http://')) return origin.slice('http://'.length);
  return isBehindProxy && origin.startsWith('https://') ? origin.slice('https://'.length) : '';
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

/** Instar's valid keys. */
export interface KnownCallers {
  /** Undefined for a key that is not valid here. */
  find(presented: string): Caller | undefined;
  ofCredential(provider: string, client: string | undefined): Caller;
}

interface AuthorizerOptions {
  readonly keys: KnownCallers;
  /** Only on loopback, the embedded policy needs no key and a caller's own provider credentials are enough. */
  readonly onLoopback: boolean;
  readonly clock: Clock;
  readonly account: ProviderAccount;
}

export interface Authorizer {
  readonly account: ProviderAccount;
  /** The caller whose Instar key is in the headers; undefined without one. */
  callerOf(request: IncomingMessage): Caller | undefined;
  /** The caller that a provider's acceptance of its own credential would prove. */
  ofCredential(provider: string, client: string | undefined): Caller;
  /**
   * Refuses a request for a model by its headers alone, before its body is read: the owner key is for people; and without
   * a valid caller key a request is refused unless some target (`kinds`) may accept it.
   */
  atHeaders(
    request: IncomingMessage,
    caller: Caller | undefined,
    kinds: ReadonlySet<Access['kind']>,
  ): Failure | undefined;
  /** The credentials with which this caller may use this target, or why it may not. */
  forTarget(request: IncomingMessage, target: Target, caller: Caller | undefined): AccessDecision;
  /** For Instar's own routes: why this caller may not use them. */
  forRoute(
    request: IncomingMessage,
    caller: Caller | undefined,
    needs: 'caller' | 'member' | 'reviewer' | 'owner',
  ): Failure | undefined;
}

export type AccessDecision =
  | {
      readonly ok: true;
      readonly access: Access;
      /** The caller brings its own credential: it is known once the provider has accepted it. */
      readonly isOwnCredential?: true;
    }
  | FailedResult;

const WRONG_PER_MINUTE = 10;

/**
 * Counts wrong keys by address, loopback included: after ten in a minute the answer is 429. A right key is accepted even
 * then: guessing 256 bits is hopeless, and a lock-out would let one stale client shut out all others.
 */
export function createAuthorizer({ keys, onLoopback, clock, account }: AuthorizerOptions): Authorizer {
  const countWrong = createWrongKeyCount(clock);
  const refuseWithoutKey = (request: IncomingMessage): Failure =>
    presentedKeys(request.headers).length > 0
      ? countWrong(request)
      : createFailure('unauthorized', NO_KEY, { code: 'invalid_api_key' });

  return {
    account,
    ofCredential: keys.ofCredential,
    callerOf: ({ headers }) => {
      const own = headers['x-instar-key'];
      if (typeof own === 'string') return keys.find(own);
      for (const presented of presentedKeys(headers)) {
        const caller = keys.find(presented);
        if (caller !== undefined) return caller;
      }
      return undefined;
    },
    atHeaders: (request, caller, kinds) => {
      if (caller?.kind === 'owner') return OWNER_KEY_FOR_MODELS;
      if (caller?.kind === 'member') return MEMBER_KEY_FOR_MODELS;
      if (caller !== undefined) return undefined;
      const presented = presentedKeys(request.headers);
      if (request.headers['x-instar-key'] !== undefined) return countWrong(request, INVALID_KEY);
      // A key of ours that is not valid is never taken for a provider's credential, nor for no key at all.
      if (presented.some(isOwnKey)) return countWrong(request, INVALID_KEY);
      if (onLoopback && (kinds.has('open') || kinds.has('caller'))) return undefined;
      if (kinds.has('caller')) return createFailure('unauthorized', NO_SEPARATE_KEY);
      return refuseWithoutKey(request);
    },
    forRoute: (request, caller, needs) => {
      if (caller === undefined) return refuseWithoutKey(request);
      if (caller.attempt !== undefined) return FOR_MODELS_ONLY;
      if (needs === 'caller' || caller.kind === 'owner') return undefined;
      if (caller.kind !== 'member') return needs === 'owner' ? NOT_OWNER : NOT_PERSON;
      if (needs === 'member' || (needs === 'reviewer' && caller.role === 'reviewer')) return undefined;
      return NOT_BY_ROLE;
    },
    forTarget: (request, { access, upstreams, provider }, caller) => {
      if (access.kind !== 'caller') {
        const isAllowed = caller !== undefined || (access.kind === 'open' && onLoopback);
        return isAllowed ? { ok: true, access } : refusal(refuseWithoutKey(request));
      }
      if (!onLoopback && caller === undefined) return refusal(createFailure('unauthorized', NO_SEPARATE_KEY));
      const isLocal = (): boolean => isLocalTarget({ upstreams });
      const presented = presentedKeys(request.headers, false);
      if (presented.some((key) => keys.find(key) !== undefined)) {
        // Instar's key is never sent to a provider. A local server is called without a key.
        if (isLocal()) return { ok: true, access: { kind: 'open' } };
        const message = `Provider “${provider}” has no key in Instar’s config: send your own, or give the entry a keyEnv.`;
        return refusal(createFailure('unauthorized', message));
      }
      const isForeign = upstreams.every(({ wire }) => wire !== 'anthropic');
      if (isForeign && presented.some((value) => value.startsWith('sk-ant-'))) {
        return refusal(
          createFailure('unauthorized', `An Anthropic key is not sent to provider “${provider}”.`),
        );
      }
      const [credential] = presented;
      // A server on this machine accepts any credential: it does not tell who calls.
      return credential === undefined || caller !== undefined || isLocal()
        ? { ok: true, access }
        : { ok: true, access, isOwnCredential: true };
    },
  };
}

/** Refuses a wrong key, and counts it for its address. */
function createWrongKeyCount(clock: Pick<Clock, 'monotonic'>) {
  const wrong = new Map<string, { count: number; until: number }>();
  return (request: IncomingMessage, message = WRONG_KEY): Failure => {
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
    return createFailure('unauthorized', message, { code: 'invalid_api_key' });
  };
}

/** A server on this machine accepts any credential: it does not tell who calls. */
const isLocalTarget = ({ upstreams }: Pick<Target, 'upstreams'>): boolean =>
  upstreams.every(({ origin }) => isLoopbackName(new URL(origin).hostname));

/** Whether a caller without Instar's key brings a credential of its own, which this provider will check. */
export const bringsCredential = ({ headers }: IncomingMessage, target: Target | undefined): boolean =>
  target?.access.kind === 'caller' && presentedKeys(headers, false).length > 0 && !isLocalTarget(target);

const NO_SEPARATE_KEY = 'From another machine, send Instar’s key too, in the x-instar-key header.';
const NO_KEY =
  'Instar’s key is missing: send it as "authorization: Bearer KEY" or "x-api-key: KEY". Get one with: instar connect CLIENT --write, or: instar team keys create NAME.';
const WRONG_KEY = 'This is not a key of Instar. Get one with: instar team keys create NAME.';
const INVALID_KEY =
  'This key of Instar is revoked, or belongs to another home. Get a new one with: instar connect CLIENT --write.';
const NOT_OWNER = createFailure(
  'forbidden',
  'This needs the owner key. A caller key may only ask models and report on its own turns. Use the instar command, or the page.',
  { code: 'owner_key_required' },
);
const NOT_PERSON = createFailure(
  'forbidden',
  'This needs the key of a person: the owner key, or the key that "instar team members add" printed for a member.',
  { code: 'owner_key_required' },
);
const NOT_BY_ROLE = createFailure(
  'forbidden',
  'Your role does not allow this. An owner of the team may change it: instar team members role NAME ROLE.',
  { code: 'owner_key_required' },
);
const MEMBER_KEY_FOR_MODELS = createFailure(
  'forbidden',
  'This is the key of a person, which no client may hold. Give the client a key of its own: instar team members key NAME CLIENT.',
  { code: 'caller_key_required' },
);
const FOR_MODELS_ONLY = createFailure(
  'forbidden',
  'This key is for one attempt at a practice task: it may only ask models.',
);
const OWNER_KEY_FOR_MODELS = createFailure(
  'forbidden',
  'This is the owner key, which no client may hold. Give the client a key of its own: instar connect CLIENT --write.',
  { code: 'caller_key_required' },
);

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

/** Callers' own credentials that a provider accepted a short time ago. Only their digests are kept, in memory. */
export interface AcceptedCredentials {
  has(request: IncomingMessage): boolean;
  add(request: IncomingMessage): void;
}

/** An hour: a caller with a revoked credential loses its place among the known ones soon. */
const MOST_CREDENTIALS = 1000;
const VALID_MS = 3_600_000;

export function createAcceptedCredentials(monotonic: () => number): AcceptedCredentials {
  const until = createLruMap<string, number>(MOST_CREDENTIALS);
  return {
    has: (request) => {
      const name = digestOf(request);
      return name !== undefined && (until.get(name) ?? Number.NEGATIVE_INFINITY) > monotonic();
    },
    add: (request) => {
      const name = digestOf(request);
      if (name !== undefined) until.set(name, monotonic() + VALID_MS);
    },
  };
}

function digestOf({ headers }: IncomingMessage): string | undefined {
  const values = Object.values(credentialHeaders(headers));
  return values.length === 0
    ? undefined
    : createHash('sha256').update(JSON.stringify(values)).digest('base64url');
}

/** Keys of attempts at practice tasks, beside the keys of callers. They live in this process's memory, and only it makes them. */
export interface AttemptKeys extends KnownCallers {
  open(attempt: BoundAttempt): AttemptKey;
}

interface AttemptKey {
  readonly key: string;
  /** The key is refused from now on. */
  close(): void;
}

const PREFIX = 'instar_attempt_';

/**
 * Binds a session to its lessons by a key that is made for it: a header could be sent by any client. Requests with the key are
 * in the attempt's session, are shown the attempt's block, and are not learned from, whatever else they say of themselves.
 */
export function withAttemptKeys(keys: KnownCallers): AttemptKeys {
  const open = new Map<string, Caller>();
  return {
    find: (presented) => (presented.startsWith(PREFIX) ? open.get(hashOf(presented)) : keys.find(presented)),
    ofCredential: keys.ofCredential,
    open: (attempt) => {
      const key = `${PREFIX}${randomBytes(32).toString('base64url')}`;
      const hash = hashOf(key);
      open.set(hash, { kind: 'caller', id: PRACTICE, mayRate: false, attempt });
      return { key, close: () => void open.delete(hash) };
    },
  };
}

const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex');
