import { randomUUID } from 'node:crypto';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { NativeConnection } from './connection.ts';
import { inProject } from './in-project.ts';

type JsonBody = Readonly<Record<string, unknown>>;

/** What came back. `status` 0: Instar is away, too slow, or was away a moment ago. */
export interface InstarReply {
  readonly status: number;
  /** Undefined unless the reply is JSON. */
  readonly body: unknown;
}

/**
 * Requests to Instar, for programs that work without it too. Nothing throws or rejects, every request has a time limit, and after a
 * request that found nobody none is made for a while: an agent never waits twice for an Instar that is away. Nothing is logged. A
 * `folder` in a body goes as its project.
 */
export interface InstarClient {
  ask(method: 'GET' | 'POST', path: string, body?: JsonBody, timeoutMs?: number): Promise<InstarReply>;
  /** Sends an event after all earlier ones, in the background. Events that come while too many wait are dropped. */
  report(event: JsonBody): void;
  /** Like `report`, for any path; resolves with the reply, or when it is given up. */
  deliver(path: string, body: JsonBody): Promise<InstarReply>;
  /** Resolves when what was reported is sent, when nobody is there, or after the time. */
  flush(timeoutMs: number): Promise<void>;
}

interface ClientOptions {
  readonly timeoutMs?: number;
  readonly pauseMs?: number;
}

const TIMEOUT_MS = 2_000;
const PAUSE_MS = 15_000;
/** What could not be delivered is tried again for so long, as long as this program runs. */
const KEPT_MS = 120_000;
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
  const flushing = new Set<() => void>();
  const isAway = (): boolean => performance.now() < awayUntil;

  const send = async (request: Omit<Sent, 'url' | 'key'>, path: string): Promise<InstarReply> => {
    const body = request.body === undefined ? undefined : await inProject(request.body);
    const reply = await sendOnce({ ...request, body, url: `${url}${path}`, key });
    if (reply.status === 0) {
      awayUntil = performance.now() + pauseMs;
      for (const stop of flushing) stop();
    }
    return reply;
  };
  /** Again and again, with a key by which Instar knows a repetition: a reply that came too late was a delivery all the same. */
  const sendKept = async (path: string, body: JsonBody, since: number): Promise<InstarReply> => {
    const repeatKey = randomUUID();
    for (;;) {
      while (isAway()) {
        if (performance.now() - since > KEPT_MS) return AWAY;
        await pause(awayUntil - performance.now());
      }
      const reply = await send({ method: 'POST', body, timeoutMs: usual, repeatKey }, path);
      if (reply.status !== 0) return reply;
    }
  };
  /** One after the other. */
  const enqueue = (work: (since: number) => Promise<InstarReply>): Promise<InstarReply> => {
    if (waiting >= MOST_WAITING) return Promise.resolve(AWAY);
    waiting++;
    const since = performance.now();
    const done = last.then(async () => {
      const reply = await work(since);
      waiting--;
      return reply;
    });
    last = done;
    return done;
  };
  const sendEvent = async (event: JsonBody, since: number): Promise<InstarReply> => {
    const reply = await sendKept(EVENTS, event, since);
    // The session was recorded with the client's own credentials, so this key may not speak about it: the event says less.
    if (reply.status !== FORBIDDEN || !('session' in event)) return reply;
    const { session, ...rest } = event;
    return sendKept(EVENTS, { ...rest, clientSession: session }, since);
  };
  return {
    ask: async (method, path, body, timeoutMs = usual) =>
      isAway() ? AWAY : send({ method, body, timeoutMs }, path),
    report: (event) => void enqueue((since) => sendEvent(event, since)),
    deliver: (path, body) => enqueue((since) => sendKept(path, body, since)),
    flush: (timeoutMs) => {
      if (waiting === 0 || isAway()) return Promise.resolve();
      return new Promise<void>((resolve) => {
        const stop = (): void => {
          flushing.delete(stop);
          cancel();
          resolve();
        };
        const cancel = afterRunning(timeoutMs, stop);
        flushing.add(stop);
        void last.then(stop);
      });
    },
  };
}

const EVENTS = '/v1/events';
const TICK_MS = 50;

/**
 * Calls back after a time in which this program could have read a reply: while it is busy itself, nobody else is late. Returns what
 * cancels it. Holds no program back from ending.
 */
function afterRunning(timeoutMs: number, callback: () => void): () => void {
  let left = Math.max(1, Math.ceil(timeoutMs / TICK_MS));
  const timer = setInterval(() => {
    left--;
    if (left > 0) return;
    clearInterval(timer);
    callback();
  }, TICK_MS).unref();
  return () => clearInterval(timer);
}

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, Math.max(1, ms)).unref();
  });

interface Sent {
  readonly url: string;
  readonly key: string;
  readonly method: string;
  readonly body: JsonBody | undefined;
  readonly timeoutMs: number;
  readonly repeatKey?: string;
}

/** Resolves always. */
function sendOnce({ url, key, method, body, timeoutMs, repeatKey }: Sent): Promise<InstarReply> {
  return new Promise((resolve) => {
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const request = url.startsWith('https:') ? requestHttps : requestHttp;
    const headers = {
      'x-instar-key': key,
      ...(repeatKey === undefined ? {} : { 'idempotency-key': repeatKey }),
      ...(bytes === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': String(bytes.length) }),
    };
    try {
      const sent = request(url, { method, headers }, (response) => {
        const chunks: Buffer[] = [];
        let size = 0;
        response.on('data', (chunk: Buffer) => {
          size += chunk.length;
          if (size > MOST_REPLY_BYTES) response.destroy();
          else chunks.push(chunk);
        });
        response.on('end', () =>
          finish({ status: response.statusCode ?? 0, body: parse(Buffer.concat(chunks).toString('utf8')) }),
        );
        response.on('close', () => finish(AWAY));
        response.on('error', () => finish(AWAY));
      });
      const cancel = afterRunning(timeoutMs, () => {
        sent.destroy();
        finish(AWAY);
      });
      const finish = (reply: InstarReply): void => {
        cancel();
        resolve(reply);
      };
      sent.on('error', () => finish(AWAY));
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
