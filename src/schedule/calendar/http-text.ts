import { type BusyFailure, busyFailure } from './busy-times.ts';

interface TextRequest {
  readonly fetch: typeof fetch;
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

export type TextAnswer =
  | { readonly ok: true; readonly status: number; readonly headers: Headers; readonly text: string }
  | BusyFailure;

const MAX_REDIRECTS = 3;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/**
 * One request with limits on time and size. It follows redirects within the same origin only: others could leak a
 * credential or reach a server on this machine. Failures contain neither the address nor the reply.
 */
export async function requestText(request: TextRequest): Promise<TextAnswer> {
  const limit = AbortSignal.timeout(request.timeoutMs);
  const signal = AbortSignal.any([request.signal, limit]);
  try {
    let url = parseAddress(request.url);
    if (url === undefined) return busyFailure('the address is not https', true);
    for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
      const response = await request.fetch(url, {
        method: request.method,
        headers: request.headers,
        ...(request.body === undefined ? {} : { body: request.body }),
        redirect: 'manual',
        signal,
      });
      if (!REDIRECTS.has(response.status)) return await readAnswer(response, request.maxBytes);
      await response.body?.cancel();
      const next = urlOf(response.headers.get('location') ?? '', url.href);
      if (next?.origin !== url.origin) return busyFailure('the server redirects to another host', true);
      url = next;
    }
    return busyFailure('the server redirects too often');
  } catch (error) {
    if (request.signal.aborted) return busyFailure('stopped');
    return busyFailure(limit.aborted ? 'the server did not answer in time' : `no connection${codeOf(error)}`);
  }
}

const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]']);

/** Only https, or http on loopback: secrets are not sent unencrypted. */
function parseAddress(address: string): URL | undefined {
  const url = urlOf(address.replace(/^webcals?:/i, 'https:'));
  if (url === undefined || url.username !== '' || url.password !== '') return undefined;
  const isSafe = url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.has(url.hostname));
  return isSafe ? url : undefined;
}

const urlOf = (text: string, base?: string): URL | undefined =>
  URL.canParse(text, base) ? new URL(text, base) : undefined;

async function readAnswer(response: Response, maxBytes: number): Promise<TextAnswer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  if (response.body !== null) {
    for await (const chunk of response.body) {
      size += chunk.length;
      // Leaving the loop cancels the body.
      if (size > maxBytes) return busyFailure(`the reply is larger than ${maxBytes} bytes`);
      chunks.push(chunk);
    }
  }
  const text = Buffer.concat(chunks).toString('utf8');
  return { ok: true, status: response.status, headers: response.headers, text };
}

/** The system's error code, which contains no host: ` (ECONNREFUSED)`. */
function codeOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,40}$/.test(code) ? ` (${code})` : '';
}

/** The failure for an HTTP status other than success. */
export function failureOfStatus(status: number, headers: Headers): BusyFailure {
  const wait = retryAfterMs(headers.get('retry-after'));
  if (status === 401) return busyFailure('the server rejects the credentials (401)', true);
  if (status === 403) return busyFailure('the server denies access (403)', true);
  if (status === 404 || status === 410) return busyFailure(`the calendar is gone (${status})`, true);
  if (status === 429) return busyFailure('too many requests (429)', false, wait);
  return busyFailure(`the server answered ${status}`, false, wait);
}

const MAX_WAIT_MS = 24 * 3_600_000;

/** Only the form in seconds: a date would depend on two clocks. */
function retryAfterMs(value: string | null): number | undefined {
  if (value === null || !/^[0-9]{1,7}$/.test(value.trim())) return undefined;
  return Math.min(Number(value) * 1000, MAX_WAIT_MS);
}
