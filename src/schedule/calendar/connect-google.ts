import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type BusyFailure, busyFailure } from './busy-times.ts';
import { askToken, GOOGLE_PLACES, type GoogleClient, type GooglePlaces } from './google.ts';

export interface GoogleConnectSetting {
  readonly client: GoogleClient;
  readonly fetch: typeof fetch;
  /** Shows the address to the person: opens a browser, prints it. */
  readonly show: (url: string) => void;
  readonly signal: AbortSignal;
  readonly places?: GooglePlaces;
  readonly timeoutMs?: number;
  readonly randomText?: () => string;
}

export type GoogleGrant = { readonly ok: true; readonly refreshToken: string } | BusyFailure;

/** May ask when someone is busy, and nothing else. */
export const FREE_BUSY_SCOPE = 'https://www.googleapis.com/auth/calendar.freebusy';
const FIVE_MINUTES_MS = 300_000;

/**
 * Asks a person to grant access in their browser. The answer comes back to a server on this machine that lives only as
 * long as the question; the code in it is worthless without the verifier, which never leaves this process until the
 * exchange. `state` is another secret than the verifier: the browser, its history and its extensions see it.
 */
export async function connectGoogle(setting: GoogleConnectSetting): Promise<GoogleGrant> {
  const { client, fetch, show, signal, places = GOOGLE_PLACES } = setting;
  const { timeoutMs = FIVE_MINUTES_MS, randomText = () => randomBytes(48).toString('base64url') } = setting;
  const state = randomText();
  const verifier = randomText();
  if (state === verifier) return busyFailure('the random numbers are not random');

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
      return busyFailure('the access to free and busy times was not granted', true);
    }
    if (given.refresh === undefined) return busyFailure('Google gave no lasting access', true);
    return { ok: true, refreshToken: given.refresh };
  } catch {
    return busyFailure('the browser could not be waited for');
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
    const giveUp = (): void => resolve(busyFailure('nobody answered in the browser'));
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
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
      // Anyone on this machine, or any page in the browser, can send a request here: only the state opens the door.
      if (!isOurs || url === undefined || !isSame(url.searchParams.get('state'), state)) {
        return say(response, 400, 'This is not the answer we wait for.');
      }
      const code = url.searchParams.get('code');
      if (code === null || code === '') {
        say(response, 200, 'The calendar was not connected. You can close this page.');
        return resolve(busyFailure('the access was not granted', true));
      }
      say(response, 200, 'The calendar is connected. You can close this page.');
      resolve({ code });
    });
  });
}

function isSame(given: string | null, expected: string): boolean {
  const [a, b] = [Buffer.from(given ?? ''), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function say(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    connection: 'close',
  });
  response.end(`${text}\n`);
}
