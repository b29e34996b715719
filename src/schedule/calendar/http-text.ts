import { type BusyFailure, busyFailure } from './busy-times.ts';

export interface TextRequest {
  readonly fetch: typeof fetch;
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly timeoutMs: number;
  readonly mostBytes: number;
  readonly signal: AbortSignal;
}

export type TextAnswer =
  | { readonly ok: true; readonly status: number; readonly headers: Headers; readonly text: string }
  | BusyFailure;

const MOST_REDIRECTS = 3;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/**
 * One request with a limit on time and size. It follows redirects only within the origin it was sent to: elsewhere they
 * would carry off a credential, or point at a server of this machine. Failures name neither the address nor what the
 * server said.
 */
export async function requestText(request: TextRequest): Promise<TextAnswer> {
  const limit = AbortSignal.timeout(request.timeoutMs);
  const signal = AbortSignal.any([request.signal, limit]);
  try {
    let url = placeOf(request.url);
    if (url === undefined) return busyFailure('the address is not https', true);
    for (let hops = 0; hops <= MOST_REDIRECTS; hops++) {
      const response = await request.fetch(url, {
        method: request.method,
        headers: request.headers,
        ...(request.body === undefined ? {} : { body: request.body }),
        redirect: 'manual',
        signal,
      });
      if (!REDIRECTS.has(response.status)) return await readAnswer(response, request.mostBytes);
      await response.body?.cancel();
      const next = urlOf(response.headers.get('location') ?? '', url.href);
      if (next?.origin !== url.origin) return busyFailure('the server sends us to another one', true);
      url = next;
    }
    return busyFailure('the server sends us around in circles');
  } catch (error) {
    if (request.signal.aborted) return busyFailure('stopped');
    return busyFailure(limit.aborted ? 'the server did not answer in time' : `no connection${codeOf(error)}`);
  }
}

const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]']);

/** A secret travels encrypted, or not at all beyond this machine. */
function placeOf(address: string): URL | undefined {
  const url = urlOf(address.replace(/^webcals?:/i, 'https:'));
  if (url === undefined || url.username !== '' || url.password !== '') return undefined;
  const isSafe = url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.has(url.hostname));
  return isSafe ? url : undefined;
}

const urlOf = (text: string, base?: string): URL | undefined =>
  URL.canParse(text, base) ? new URL(text, base) : undefined;

async function readAnswer(response: Response, mostBytes: number): Promise<TextAnswer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  if (response.body !== null) {
    for await (const chunk of response.body) {
      size += chunk.length;
      // Leaving the loop cancels the body.
      if (size > mostBytes) return busyFailure(`the answer is larger than ${mostBytes} bytes`);
      chunks.push(chunk);
    }
  }
  const text = Buffer.concat(chunks).toString('utf8');
  return { ok: true, status: response.status, headers: response.headers, text };
}

/** The system's word for it, which names no host: ` (ECONNREFUSED)`. */
function codeOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,40}$/.test(code) ? ` (${code})` : '';
}

/** What a status that is no success means for a calendar. */
export function failureOfStatus(status: number, headers: Headers): BusyFailure {
  const wait = retryAfterMs(headers.get('retry-after'));
  if (status === 401) return busyFailure('the server refuses the credentials (401)', true);
  if (status === 403) return busyFailure('the server refuses access (403)', true);
  if (status === 404 || status === 410) return busyFailure(`the calendar is gone (${status})`, true);
  if (status === 429) return busyFailure('the server asks us to slow down (429)', false, wait);
  return busyFailure(`the server answered ${status}`, false, wait);
}

const MOST_WAIT_MS = 24 * 3_600_000;

/** Only the form in seconds: the other one trusts two clocks. */
function retryAfterMs(value: string | null): number | undefined {
  if (value === null || !/^[0-9]{1,7}$/.test(value.trim())) return undefined;
  return Math.min(Number(value) * 1000, MOST_WAIT_MS);
}
