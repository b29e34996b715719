import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Caller } from '../../core/caller.ts';
import type { Clock } from '../../core/clock.ts';
import { createFailure, type Failure, type Refused, refused } from '../../core/failure.ts';
import type { SignedIn } from '../../gateway/api-router.ts';
import type { SignIns } from './sign-ins.ts';

/**
 * Signs people in on the page: a one-time code becomes a cookie and a word that the page keeps. Together they have the rights of the
 * owner key, on `/api` alone. Browsers send the cookie to every port of this host, so that another local server may see it; what a page
 * keeps belongs to its port.
 */
export interface PageLogin {
  newCode(): { readonly code: string; readonly expiresAt: number };
  /** The headers that set the cookie, and the page's word; a failure for a code that is wrong, used or too old. */
  enter(
    code: string,
    request: IncomingMessage,
  ):
    | { readonly ok: true; readonly headers: Readonly<Record<string, string>>; readonly word: string }
    | Refused;
  /** The owner, when the cookie is valid and the page itself sent the request, with its word; undefined without a valid cookie. */
  personOf(request: IncomingMessage): SignedIn | undefined;
  /** The headers that remove the cookie. */
  leave(request: IncomingMessage): Readonly<Record<string, string>>;
  /** Signs every browser out, and takes back the codes that nobody has used. */
  leaveAll(): void;
}

interface LoginOptions {
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  /** The valid owner key. A cookie is bound to the one that was valid when its code was made. */
  readonly owner: () => Caller | undefined;
  /** Who was signed in when the daemon ended. */
  readonly kept: SignIns;
}

const MINUTE_MS = 60_000;
const CODE_MS = 10 * MINUTE_MS;
const DAY_MS = 86_400_000;
/** A sign-in ends after this time without a request, and after that time in any case. */
const IDLE_MS = 3 * DAY_MS;
const LONGEST_MS = 30 * DAY_MS;
/** How exactly the last use is kept: not every request writes a file. */
const KEPT_MS = 3_600_000;
const MOST_CODES = 20;
const MOST_COOKIES = 100;
const WRONG_PER_MINUTE = 10;

/** Times are of the monotonic clock. */
interface Bound {
  readonly owner: string;
  until: number;
}

interface Session extends Bound {
  /** The hash of the page's word. */
  readonly word: string;
  readonly issuedAt: number;
  usedAt: number;
}

/** Who is signed in, by the hashes of their cookies. Kept for the next daemon. */
function openSessions({ clock, owner, kept }: LoginOptions) {
  const cookies = new Map<string, Session>();
  let savedAt = clock.monotonic();
  const endOf = ({ issuedAt, usedAt }: Pick<Session, 'issuedAt' | 'usedAt'>): number =>
    Math.min(usedAt + IDLE_MS, issuedAt + LONGEST_MS);

  for (const { token, word, issuedAt, usedAt } of kept.read()) {
    const [wall, now] = [clock.now(), clock.monotonic()];
    // A sign-in of the future: the clock was set back, and nobody knows how old it is.
    if (usedAt > wall + MINUTE_MS) continue;
    const times = { issuedAt: now - (wall - issuedAt), usedAt: now - (wall - usedAt) };
    cookies.set(token, { owner: owner()?.id ?? '', word, ...times, until: endOf(times) });
  }
  const save = (): void => {
    const now = clock.monotonic();
    savedAt = now;
    for (const [token, { until, owner: of }] of cookies)
      if (until <= now || of !== owner()?.id) cookies.delete(token);
    const toWall = clock.now() - now;
    kept.write(
      [...cookies].map(([token, { word, issuedAt, usedAt }]) => ({
        token,
        word,
        issuedAt: Math.round(issuedAt + toWall),
        usedAt: Math.round(usedAt + toWall),
      })),
    );
  };
  return {
    find: (token: string | undefined): Session | undefined => {
      const session = token === undefined ? undefined : cookies.get(hashOf(token));
      if (session === undefined || session.until <= clock.monotonic()) return undefined;
      return session.owner === owner()?.id ? session : undefined;
    },
    begin: (token: string, by: Pick<Session, 'owner' | 'word'>): void => {
      const now = clock.monotonic();
      keepMost(cookies, MOST_COOKIES);
      const times = { issuedAt: now, usedAt: now };
      cookies.set(hashOf(token), { ...by, ...times, until: endOf(times) });
      save();
    },
    use: (session: Session): void => {
      session.usedAt = clock.monotonic();
      session.until = endOf(session);
      if (session.usedAt - savedAt > KEPT_MS) save();
    },
    end: (token: string): void => {
      cookies.delete(hashOf(token));
      save();
    },
    endAll: (): void => {
      cookies.clear();
      save();
    },
  };
}

/** Codes and cookies are known by their hashes. Codes end with the daemon; sign-ins are kept for the next one. */
export function createPageLogin(options: LoginOptions): PageLogin {
  const { clock, owner } = options;
  const codes = new Map<string, Bound>();
  const sessions = openSessions(options);
  let wrong = { count: 0, until: 0 };

  const take = (code: string): Bound | undefined => {
    const hash = hashOf(code);
    const bound = codes.get(hash);
    codes.delete(hash);
    return bound !== undefined && bound.until > clock.monotonic() && bound.owner === owner()?.id
      ? bound
      : undefined;
  };

  return {
    newCode: () => {
      const code = randomBytes(16).toString('base64url');
      keepMost(codes, MOST_CODES);
      codes.set(hashOf(code), { owner: owner()?.id ?? '', until: clock.monotonic() + CODE_MS });
      return { code, expiresAt: clock.now() + CODE_MS };
    },
    enter: (code, request) => {
      const now = clock.monotonic();
      if (wrong.until <= now) wrong = { count: 0, until: now + 60_000 };
      const bound = take(code);
      if (bound === undefined) {
        wrong.count++;
        const retryAfterMs = Math.ceil(wrong.until - now);
        return wrong.count > WRONG_PER_MINUTE
          ? refused(createFailure('rate-limited', 'Too many wrong codes. Wait a minute.', { retryAfterMs }))
          : refused(createFailure('unauthorized', WRONG_CODE, { code: 'invalid_code' }));
      }
      const [token, word] = [randomBytes(32).toString('base64url'), randomBytes(32).toString('base64url')];
      sessions.begin(token, { owner: bound.owner, word: hashOf(word) });
      return { ok: true, headers: { 'set-cookie': `${cookieName(request)}=${token}; ${ATTRIBUTES}` }, word };
    },
    personOf: (request) => {
      const session = sessions.find(readCookie(request));
      if (session === undefined) return undefined;
      const refusal = refuseForeign(request) ?? refuseWithoutWord(request, session);
      if (refusal !== undefined) return refused(refusal);
      sessions.use(session);
      const caller = owner();
      return caller && { ok: true, caller };
    },
    leave: (request) => {
      const token = readCookie(request);
      const session = sessions.find(token);
      if (token !== undefined && session !== undefined && refuseForeign(request) === undefined)
        if (refuseWithoutWord(request, session) === undefined) sessions.end(token);
      return { 'set-cookie': `${cookieName(request)}=; Max-Age=0; ${ATTRIBUTES}` };
    },
    leaveAll: () => {
      codes.clear();
      sessions.endAll();
    },
  };
}

const WRONG_CODE =
  'This code is wrong, was used already, or is older than ten minutes. Run "instar page" in a terminal and open the address that it prints.';
const NOT_THIS_PAGE =
  'This page is not signed in. Run "instar page" in a terminal and open the address that it prints.';
const ATTRIBUTES = 'HttpOnly; SameSite=Strict; Path=/';

/** A cookie counts only in requests that the page itself sends. */
function refuseForeign({ headers }: IncomingMessage): Failure | undefined {
  const site = headers['sec-fetch-site'];
  const isOwn =
    site === undefined ? headers.origin === `http://${headers.host ?? ''}` : site === 'same-origin';
  return isOwn ? undefined : createFailure('forbidden', 'Only the page of Instar may use its cookie.');
}

/** In a header that no form can send; of the feed, to which browsers send no headers, in its address. */
function refuseWithoutWord({ headers, url = '' }: IncomingMessage, { word }: Session): Failure | undefined {
  const inAddress = url.startsWith('/api/feed?')
    ? new URLSearchParams(url.slice(url.indexOf('?'))).get('page')
    : null;
  const given = headers['x-instar-page'] ?? inAddress ?? '';
  if (typeof given === 'string' && hashOf(given) === word) return undefined;
  return createFailure('unauthorized', NOT_THIS_PAGE, { code: 'signed_out' });
}

/** Browsers send a cookie to every port of a host: several Instars must not overwrite each other's. */
const cookieName = ({ socket }: IncomingMessage): string => `instar_page_${socket.localPort ?? 0}`;

function readCookie(request: IncomingMessage): string | undefined {
  const start = `${cookieName(request)}=`;
  const pair = (request.headers.cookie ?? '')
    .split(';')
    .map((one) => one.trim())
    .find((one) => one.startsWith(start));
  return pair?.slice(start.length) || undefined;
}

const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('base64url');

/** Makes room for one more: the oldest go first. */
function keepMost(map: Map<string, Bound>, most: number): void {
  for (const key of map.keys()) {
    if (map.size < most) return;
    map.delete(key);
  }
}
