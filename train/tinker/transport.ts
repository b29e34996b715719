import type { Clock } from '../../src/core/clock.ts';

/** One HTTP request. */
interface TinkerCall {
  /** The path after `/api/v1/`. */
  readonly route: string;
  readonly method?: 'GET' | 'POST';
  readonly type?: string;
  readonly bytes?: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** The outcome of a request. A missing answer is a value too: callers treat it differently. */
export type TinkerReply = ServerAnswer | NoAnswer;

export interface ServerAnswer {
  readonly kind: 'answer';
  readonly status: number;
  readonly type: 'json' | 'protobuf' | 'other';
  readonly bytes: Uint8Array;
  header(name: string): string | undefined;
}

interface NoAnswer {
  readonly kind: 'none';
  /** `unreachable`: the request was not sent. `cut-off`: it may have arrived. */
  readonly why: 'timeout' | 'unreachable' | 'cut-off' | 'too-large' | 'aborted';
  readonly detail: string;
}

export interface Transport {
  send(call: TinkerCall, signal: AbortSignal): Promise<TinkerReply>;
  /** When the server last answered with a status below 500; monotonic. */
  heardAt(): number;
}

interface TransportOptions {
  readonly url: string;
  readonly key: string | undefined;
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  readonly mostBytes: number;
}

export function createTransport({ url, key, fetch, clock, mostBytes }: TransportOptions): Transport {
  const base = baseOf(url);
  let heard = clock.monotonic();

  const exchange = async (call: TinkerCall, signal: AbortSignal): Promise<ServerAnswer | NoAnswer> => {
    const { route, type = 'application/json', method = 'POST' } = call;
    const bytes = method === 'GET' ? undefined : call.bytes;
    const response = await fetch(`${base}/api/v1/${route}`, {
      method,
      // A redirect would send the key to another host.
      redirect: 'manual',
      headers: {
        accept: 'application/json',
        ...(key === undefined ? {} : { 'x-api-key': key }),
        ...(bytes === undefined ? {} : { 'content-type': type }),
        ...call.headers,
      },
      ...(bytes === undefined ? {} : { body: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) }),
      signal,
    });
    const body = await readBounded(response, mostBytes);
    if (response.status < 500) heard = clock.monotonic();
    if (body === undefined)
      return { kind: 'none', why: 'too-large', detail: `the answer is over ${mostBytes} bytes` };
    return {
      kind: 'answer',
      status: response.status,
      type: typeOf(response.headers.get('content-type') ?? ''),
      bytes: body,
      header: (name) => response.headers.get(name) ?? undefined,
    };
  };

  return {
    heardAt: () => heard,
    send: async (call, signal) => {
      if (signal.aborted) return { kind: 'none', why: 'aborted', detail: 'aborted' };
      // Not AbortSignal.any: some Node versions never collect derived signals.
      const stop = new AbortController();
      const end = (): void => stop.abort();
      signal.addEventListener('abort', end);
      const timer = setTimeout(end, call.timeoutMs);
      try {
        return await exchange(call, stop.signal);
      } catch (error) {
        if (signal.aborted) return { kind: 'none', why: 'aborted', detail: 'aborted' };
        if (stop.signal.aborted)
          return { kind: 'none', why: 'timeout', detail: `no answer in ${call.timeoutMs} ms` };
        const { code, detail } = reasonOf(error);
        return { kind: 'none', why: NEVER_LEFT.has(code) ? 'unreachable' : 'cut-off', detail };
      } finally {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
      }
    },
  };
}

function baseOf(url: string): string {
  const { protocol, origin, pathname } = new URL(url);
  if (protocol !== 'http:' && protocol !== 'https:')
    throw new TypeError(`${protocol} is not http: or https:`);
  return origin + pathname.replace(/\/$/, '');
}

const typeOf = (header: string): ServerAnswer['type'] =>
  header.includes('protobuf') ? 'protobuf' : header.includes('json') ? 'json' : 'other';

const NEVER_LEFT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']);

/** fetch says "fetch failed" and has the reason in `cause`. */
function reasonOf(error: unknown): { readonly code: string; readonly detail: string } {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const message = cause instanceof Error ? cause.message : String(cause);
  return { code, detail: message || code || 'the connection failed' };
}

/** The body; undefined when it exceeds the limit. */
async function readBounded(response: Response, most: number): Promise<Uint8Array | undefined> {
  const reader = response.body?.getReader();
  if (reader === undefined) return new Uint8Array(0);
  const parts: Uint8Array[] = [];
  let size = 0;
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    size += next.value.byteLength;
    if (size > most) {
      await reader.cancel();
      return undefined;
    }
    parts.push(next.value);
  }
  return Buffer.concat(parts);
}
