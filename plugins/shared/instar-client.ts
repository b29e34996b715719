import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { NativeConnection } from './connection.ts';

type JsonBody = Readonly<Record<string, unknown>>;

/** What came back. `status` 0: Instar is away, too slow, or was away a moment ago. */
export interface InstarReply {
  readonly status: number;
  /** Undefined unless the reply is JSON. */
  readonly body: unknown;
}

/**
 * Requests to Instar, for programs that work without it too. Nothing throws or rejects, every request has a time limit, and after a
 * request that found nobody none is made for a while: an agent never waits twice for an Instar that is away. Nothing is logged.
 */
export interface InstarClient {
  ask(method: 'GET' | 'POST', path: string, body?: JsonBody, timeoutMs?: number): Promise<InstarReply>;
  /** Sends an event after all earlier ones, in the background. Events that come while too many wait are dropped. */
  report(event: JsonBody): void;
  /** Resolves when what was reported is sent, or after the time. */
  flush(timeoutMs: number): Promise<void>;
}

interface ClientOptions {
  readonly timeoutMs?: number;
  readonly pauseMs?: number;
}

const TIMEOUT_MS = 2_000;
const PAUSE_MS = 15_000;
const MOST_WAITING = 500;
const MOST_REPLY_BYTES = 1024 * 1024;
const AWAY: InstarReply = { status: 0, body: undefined };
const FORBIDDEN = 403;

export function createInstarClient(
  { url, key }: NativeConnection,
  { timeoutMs: usual = TIMEOUT_MS, pauseMs = PAUSE_MS }: ClientOptions = {},
): InstarClient {
  let awayUntil = 0;
  let waiting = 0;
  let last: Promise<unknown> = Promise.resolve();

  const ask: InstarClient['ask'] = async (method, path, body, timeoutMs = usual) => {
    if (performance.now() < awayUntil) return AWAY;
    const reply = await send({ url: `${url}${path}`, key, method, body, timeoutMs });
    if (reply.status === 0) awayUntil = performance.now() + pauseMs;
    return reply;
  };
  const sendEvent = async (event: JsonBody): Promise<void> => {
    const { status } = await ask('POST', '/v1/events', event);
    // The session was recorded with the client's own credentials, so this key may not speak about it: the event says less.
    if (status === FORBIDDEN && 'session' in event) {
      const { session, ...rest } = event;
      await ask('POST', '/v1/events', { ...rest, clientSession: session });
    }
    waiting--;
  };
  return {
    ask,
    report: (event) => {
      if (waiting >= MOST_WAITING) return;
      waiting++;
      last = last.then(() => sendEvent(event));
    },
    flush: async (timeoutMs) => {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, timeoutMs);
      });
      await Promise.race([last, late]);
      clearTimeout(timer);
    },
  };
}

interface Sent {
  readonly url: string;
  readonly key: string;
  readonly method: string;
  readonly body: JsonBody | undefined;
  readonly timeoutMs: number;
}

/** Resolves always. */
function send({ url, key, method, body, timeoutMs }: Sent): Promise<InstarReply> {
  return new Promise((resolve) => {
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const request = url.startsWith('https:') ? requestHttps : requestHttp;
    const headers = {
      'x-instar-key': key,
      ...(bytes === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': String(bytes.length) }),
    };
    try {
      const sent = request(url, { method, headers, signal: AbortSignal.timeout(timeoutMs) }, (response) => {
        const chunks: Buffer[] = [];
        let size = 0;
        response.on('data', (chunk: Buffer) => {
          size += chunk.length;
          if (size > MOST_REPLY_BYTES) response.destroy();
          else chunks.push(chunk);
        });
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, body: parse(Buffer.concat(chunks).toString('utf8')) }),
        );
        response.on('close', () => resolve(AWAY));
        response.on('error', () => resolve(AWAY));
      });
      sent.on('error', () => resolve(AWAY));
      sent.end(bytes);
    } catch {
      resolve(AWAY);
    }
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
