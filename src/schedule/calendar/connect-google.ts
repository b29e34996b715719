import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type BusyFailure, busyFailure } from './busy-times.ts';
import { askToken, GOOGLE_PLACES, type GoogleClient, type GooglePlaces } from './google.ts';

export interface GoogleConnectSetting {
  readonly client: GoogleClient;
  readonly fetch: typeof fetch;
  /** Shows the address to the person: opens a browser or prints it. */
  readonly show: (url: string) => void;
  readonly signal: AbortSignal;
  readonly places?: GooglePlaces;
  readonly timeoutMs?: number;
  readonly randomText?: () => string;
}

export type GoogleGrant = { readonly ok: true; readonly refreshToken: string } | BusyFailure;

/** Grants access to busy times, and to nothing else. */
export const FREE_BUSY_SCOPE = 'https://www.googleapis.com/auth/calendar.freebusy';
const FIVE_MINUTES_MS = 300_000;

/**
 * OAuth with PKCE for a desktop app: asks a person to grant access in their browser. The redirect goes to a temporary
 * server on loopback. Its code is useless without the verifier, which stays in this process until the exchange. `state`
 * is a different secret than the verifier, because the browser, its history and its extensions see it.
 */
export async function connectGoogle(setting: GoogleConnectSetting): Promise<GoogleGrant> {
  const { client, fetch, show, signal, places = GOOGLE_PLACES } = setting;
  const { timeoutMs = FIVE_MINUTES_MS, randomText = () => randomBytes(48).toString('base64url') } = setting;
  const state = randomText();
  const verifier = randomText();
  if (state === verifier) return busyFailure('the random number generator repeats itself');

  const server = createServer();
  try {
    const redirect = await listen(server);
    const code = waitForCode(
      server,
      redirect,
      state,
      AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    );
    const url = new URL(places.consent);
    url.search = new URLSearchParams({
      client_id: client.id,
      redirect_uri: redirect,
      response_type: 'code',
      scope: FREE_BUSY_SCOPE,
      state,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      access_type: 'offline',
      prompt: 'consent',
    }).toString();
    show(url.href);
    const answer = await code;
    if ('ok' in answer) return answer;
    const grant = {
      grant_type: 'authorization_code',
      code: answer.code,
      redirect_uri: redirect,
      code_verifier: verifier,
    };
    const given = await askToken({ fetch, url: places.token, client, grant, signal });
    if ('ok' in given) return given;
    if (given.scope !== undefined && !given.scope.split(' ').includes(FREE_BUSY_SCOPE)) {
      return busyFailure('access to busy times was not granted', true);
    }
    if (given.refresh === undefined) return busyFailure('Google returned no refresh token', true);
    return { ok: true, refreshToken: given.refresh };
  } catch {
    return busyFailure('the redirect from the browser could not be received');
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

function waitForCode(
  server: Server,
  redirect: string,
  state: string,
  signal: AbortSignal,
): Promise<{ readonly code: string } | BusyFailure> {
  return new Promise((resolve) => {
    const fail = (): void => resolve(busyFailure('access was not granted in the browser in time'));
    if (signal.aborted) fail();
    signal.addEventListener('abort', fail, { once: true });
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const place = new URL(redirect);
      const url = URL.canParse(request.url ?? '', redirect)
        ? new URL(request.url ?? '', redirect)
        : undefined;
      const isOurs =
        request.method === 'GET' &&
        request.headers.host === place.host &&
        url?.origin === place.origin &&
        url.pathname === '/';
      // Any program on this machine and any page in the browser can send a request here: only `state` proves the origin.
      if (!isOurs || url === undefined || !isSame(url.searchParams.get('state'), state)) {
        return reply(response, 400, 'This request does not belong to the current login.');
      }
      const code = url.searchParams.get('code');
      if (code === null || code === '') {
        reply(response, 200, 'The calendar was not connected. You can close this page.');
        return resolve(busyFailure('access was not granted', true));
      }
      reply(response, 200, 'The calendar is connected. You can close this page.');
      resolve({ code });
    });
  });
}

function isSame(given: string | null, expected: string): boolean {
  const [a, b] = [Buffer.from(given ?? ''), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function reply(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    connection: 'close',
  });
  response.end(`${text}\n`);
}
