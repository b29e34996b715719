import { asNumber, asObject, asString, parseJson } from '../../../core/json.ts';
import { type BusyFailure, busyFailure } from '../busy-times.ts';
import { failureOfStatus, requestText } from '../request-text.ts';

export interface GoogleClient {
  readonly id: string;
  /** Desktop clients have one that is no secret; some have none. */
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

/** Where the right to ask is kept between runs. `read` gives undefined when nobody has granted it. */
export interface TokenStore {
  read(): Promise<string | undefined>;
  write(refreshToken: string): Promise<void>;
}

export interface GrantedToken {
  readonly access: string;
  readonly expiresInMs: number;
  readonly refresh: string | undefined;
  readonly scope: string | undefined;
}

export interface TokenQuestion {
  readonly fetch: typeof fetch;
  readonly url: string;
  readonly client: GoogleClient;
  readonly grant: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

const TIMEOUT_MS = 10_000;
const MOST_BYTES = 64 * 1024;
const USUAL_LIFE_MS = 3_600_000;

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
    mostBytes: MOST_BYTES,
    signal: question.signal,
  });
  if (!answer.ok) return answer;
  const said = asObject(parseJson(answer.text));
  if (answer.status !== 200) {
    const code = asString(said.error);
    if (code === 'invalid_grant') {
      return busyFailure('Google has withdrawn the access to the calendar; connect it again', true);
    }
    if (code === 'invalid_client' || code === 'unauthorized_client') {
      return busyFailure('Google does not know this client; connect the calendar again', true);
    }
    return failureOfStatus(answer.status, answer.headers);
  }
  const access = asString(said.access_token);
  if (access === undefined || access === '') return busyFailure('Google gave no token');
  const seconds = asNumber(said.expires_in);
  return {
    access,
    expiresInMs: seconds !== undefined && seconds > 0 ? seconds * 1000 : USUAL_LIFE_MS,
    refresh: asString(said.refresh_token),
    scope: asString(said.scope),
  };
}
