import { chmod, readFile } from 'node:fs/promises';
import { replaceFile } from '../../base/atomic-file.ts';
import type { Clock } from '../../core/clock.ts';
import { asArray, asNumber, asObject, asString, isObject, type Json, parseJson } from '../../core/json.ts';
import {
  type BusyAnswer,
  type BusyFailure,
  type BusySpan,
  type BusyTimes,
  busyFailure,
  mergeSpans,
} from './busy-times.ts';
import { failureOfStatus, requestText, type TextAnswer } from './http-text.ts';

export interface GoogleClient {
  readonly id: string;
  /** Desktop clients have one that is not confidential; some have none. */
  readonly secret?: string;
}

export interface GooglePlaces {
  readonly consent: string;
  readonly token: string;
  readonly freeBusy: string;
}

export const GOOGLE_PLACES: GooglePlaces = {
  consent: 'https://accounts.google.com/o/oauth2/v2/auth',
  token: 'https://oauth2.googleapis.com/token',
  freeBusy: 'https://www.googleapis.com/calendar/v3/freeBusy',
};

/** Where the refresh token is stored. `read` resolves with undefined before access was granted. */
interface TokenStore {
  read(): Promise<string | undefined>;
  write(refreshToken: string): Promise<void>;
}

interface GrantedToken {
  readonly access: string;
  readonly expiresInMs: number;
  readonly refresh: string | undefined;
  readonly scope: string | undefined;
}

interface TokenQuestion {
  readonly fetch: typeof fetch;
  readonly url: string;
  readonly client: GoogleClient;
  readonly grant: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

const TIMEOUT_MS = 10_000;
const MAX_TOKEN_BYTES = 64 * 1024;
const DEFAULT_LIFETIME_MS = 3_600_000;

/** Exchanges a code or a refresh token for an access token. Never rejects. */
export async function askToken(question: TokenQuestion): Promise<GrantedToken | BusyFailure> {
  const { client, grant } = question;
  const body = new URLSearchParams({ client_id: client.id, ...grant });
  if (client.secret !== undefined) body.set('client_secret', client.secret);
  const answer = await requestText({
    fetch: question.fetch,
    url: question.url,
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
    body: body.toString(),
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_TOKEN_BYTES,
    signal: question.signal,
  });
  if (!answer.ok) return answer;
  const reply = asObject(parseJson(answer.text));
  if (answer.status !== 200) {
    const code = asString(reply.error);
    if (code === 'invalid_grant') {
      return busyFailure('access to the Google calendar was revoked; connect it again', true);
    }
    if (code === 'invalid_client' || code === 'unauthorized_client') {
      return busyFailure('Google does not know this OAuth client; connect the calendar again', true);
    }
    return failureOfStatus(answer.status, answer.headers);
  }
  const access = asString(reply.access_token);
  if (access === undefined || access === '') return busyFailure('Google returned no token');
  const seconds = asNumber(reply.expires_in);
  return {
    access,
    expiresInMs: seconds !== undefined && seconds > 0 ? seconds * 1000 : DEFAULT_LIFETIME_MS,
    refresh: asString(reply.refresh_token),
    scope: asString(reply.scope),
  };
}

/** A file that only its owner can read, replaced atomically. */
export function createTokenFile(file: string): TokenStore {
  return {
    async read() {
      try {
        const token = asString(asObject(parseJson(await readFile(file, 'utf8'))).refreshToken);
        // A file copied by hand may be readable by others.
        await chmod(file, 0o600);
        return token === '' ? undefined : token;
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
        throw error;
      }
    },
    async write(refreshToken) {
      await replaceFile(file, `${JSON.stringify({ refreshToken })}\n`, { makeFolder: true });
    },
  };
}

interface GoogleSetting {
  /** Calendar ids, such as `primary`. */
  readonly calendars: readonly string[];
  readonly client: GoogleClient;
  readonly tokens: TokenStore;
  readonly clock: Clock;
  readonly fetch: typeof fetch;
  readonly places?: GooglePlaces;
}
const MAX_REPLY_BYTES = 1024 * 1024;
/** Tokens are renewed this long before they expire. */
const EARLY_MS = 60_000;
const TOO_FAST = new Set([
  'rateLimitExceeded',
  'userRateLimitExceeded',
  'quotaExceeded',
  'dailyLimitExceeded',
]);

/** Google's free/busy query, which returns times only and no content of events. */
export function createGoogleBusyTimes(setting: GoogleSetting): BusyTimes {
  const { calendars, client, tokens, clock, fetch, places = GOOGLE_PLACES } = setting;
  let access: { readonly token: string; readonly from: string; readonly until: number } | undefined;
  let revoked: { readonly from: string; readonly failure: BusyFailure } | undefined;

  const accessToken = async (signal: AbortSignal): Promise<string | BusyFailure> => {
    const refreshToken = await tokens.read();
    if (refreshToken === undefined) return busyFailure('the Google calendar is not connected', true);
    // Not asked again with the same token.
    if (revoked?.from === refreshToken) return revoked.failure;
    if (access?.from === refreshToken && clock.monotonic() < access.until) return access.token;
    const grant = { grant_type: 'refresh_token', refresh_token: refreshToken };
    const given = await askToken({ fetch, url: places.token, client, grant, signal });
    if ('ok' in given) {
      if (given.isOff) revoked = { from: refreshToken, failure: given };
      return given;
    }
    const from = given.refresh ?? refreshToken;
    if (from !== refreshToken) await tokens.write(from);
    access = { token: given.access, from, until: clock.monotonic() + given.expiresInMs - EARLY_MS };
    return given.access;
  };

  const ask = (token: string, from: number, to: number, signal: AbortSignal): Promise<TextAnswer> =>
    requestText({
      fetch,
      url: places.freeBusy,
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        timeMin: new Date(from).toISOString(),
        timeMax: new Date(to).toISOString(),
        items: calendars.map((id) => ({ id })),
      }),
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_REPLY_BYTES,
      signal,
    });

  const busy = async (from: number, to: number, signal: AbortSignal): Promise<BusyAnswer> => {
    for (const isLast of [false, true]) {
      const token = await accessToken(signal);
      if (typeof token !== 'string') return token;
      const answer = await ask(token, from, to, signal);
      if (!answer.ok) return answer;
      if (answer.status === 200) return readFreeBusy(answer.text, calendars, from, to);
      // A token may be revoked before it expires: try once with a fresh one.
      access = undefined;
      if (answer.status !== 401 || isLast) return failureOf(answer);
    }
    return busyFailure('Google rejects the token', true);
  };

  return {
    name: 'google',
    busy: (from, to, signal) =>
      busy(from, to, signal).catch(() => busyFailure('the Google calendar could not be read')),
  };
}

function failureOf(answer: TextAnswer & { ok: true }): BusyFailure {
  const reasons = asArray(asObject(asObject(parseJson(answer.text)).error).errors);
  const isTooFast = reasons.some((one) => TOO_FAST.has(asString(asObject(one).reason) ?? ''));
  return failureOfStatus(answer.status === 403 && isTooFast ? 429 : answer.status, answer.headers);
}

function readFreeBusy(text: string, ids: readonly string[], from: number, to: number): BusyAnswer {
  const calendars = asObject(parseJson(text)).calendars;
  if (!isObject(calendars)) return busyFailure('the reply of Google cannot be parsed');
  const spans: BusySpan[] = [];
  for (const id of ids) {
    const calendar = Object.hasOwn(calendars, id) ? calendars[id] : undefined;
    if (!isObject(calendar)) return busyFailure('the reply of Google cannot be parsed');
    const [error] = asArray(calendar.errors);
    if (error !== undefined) {
      const isGone = asString(asObject(error).reason) === 'notFound';
      return busyFailure(
        isGone ? 'Google has no such calendar' : 'Google could not read the calendar',
        isGone,
      );
    }
    const read = asArray(calendar.busy).map(readSpan);
    for (const span of read) {
      if (span === undefined) return busyFailure('the reply of Google cannot be parsed');
      spans.push(span);
    }
  }
  return { ok: true, spans: mergeSpans(spans, from, to) };
}

function readSpan(given: Json): BusySpan | undefined {
  const { start, end } = asObject(given);
  const span = { start: Date.parse(asString(start) ?? ''), end: Date.parse(asString(end) ?? '') };
  return Number.isFinite(span.start) && Number.isFinite(span.end) ? span : undefined;
}
