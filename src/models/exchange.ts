import dns from 'node:dns';
import { createRequire } from 'node:module';
import type { LookupFunction } from 'node:net';
import type { Readable } from 'node:stream';
import type { Pool as ConnectionPool, Dispatcher } from 'undici';
import { createFailure, type Failure } from '../core/failure.ts';
import type { Exchange, ExchangeControl, ExchangeRequest, ExchangeSink, Timeouts } from '../core/upstream.ts';

interface ExchangeOptions {
  readonly timeouts: Timeouts;
  /** Addresses that a name must not resolve to, such as a cloud's metadata server. */
  readonly isForbiddenAddress?: (address: string) => boolean;
}

/** `dispatch` alone, without `request`: the index of undici loads 87 files more, for fetch, caches and web sockets. */
const load = createRequire(import.meta.url);
const Pool = load('undici/lib/dispatcher/pool.js') as typeof import('undici').Pool;

/** A model may read a long prompt for minutes before it answers; a connection that says nothing for longer is dead. */
export const PROVIDER_TIMEOUTS: Timeouts = {
  connectMs: 10_000,
  headersMs: 600_000,
  firstByteMs: 300_000,
  idleMs: 300_000,
};

export interface ExchangePool {
  readonly exchange: Exchange;
  close(): Promise<void>;
}

/** Pooled keep-alive connections per origin. undici follows redirects only when configured to; it is not. */
export function createExchange({
  timeouts,
  isForbiddenAddress = () => false,
}: ExchangeOptions): ExchangePool {
  const pools = new Map<string, ConnectionPool>();
  const poolOf = (origin: string): ConnectionPool => {
    let pool = pools.get(origin);
    if (pool === undefined) {
      pool = new Pool(origin, {
        pipelining: 1,
        keepAliveTimeout: 30_000,
        // Our one timer per exchange reports which phase took too long; undici's two cannot.
        headersTimeout: 0,
        bodyTimeout: 0,
        connect: { timeout: timeouts.connectMs, lookup: createLookup(isForbiddenAddress) },
      });
      pools.set(origin, pool);
    }
    return pool;
  };
  return {
    exchange: (request, sink) => {
      const running = new RunningExchange(sink, timeoutsOf(timeouts, request), request.origin);
      try {
        poolOf(request.origin).dispatch(dispatchOptions(request), running);
      } catch (error) {
        running.onResponseError(undefined, error instanceof Error ? error : new Error(String(error)));
      }
      return running;
    },
    close: async () => {
      const open = [...pools.values()];
      pools.clear();
      await Promise.all(open.map((pool) => pool.destroy()));
    },
  };
}

/** The request's own, where it has some. */
const timeoutsOf = (inForce: Timeouts, { timeouts: own }: ExchangeRequest): Timeouts =>
  own === undefined
    ? inForce
    : { ...inForce, headersMs: own.headersMs ?? inForce.headersMs, idleMs: own.idleMs ?? inForce.idleMs };

function dispatchOptions({
  path,
  method,
  headers: given,
  body,
}: ExchangeRequest): Dispatcher.DispatchOptions {
  const headers = given as Record<string, string | string[]>;
  if (body === undefined || body instanceof Uint8Array) return { path, method, headers, body: body ?? null };
  const [first, ...more] = body;
  const length = more.reduce((sum, piece) => sum + piece.length, first?.length ?? 0);
  if (more.length === 0 && length < WORTH_RELEASING) return { path, method, headers, body: first ?? null };
  // undici reads any iterable, as its documentation says; its types name streams only.
  const pieces = new ReadOnce(body) as ReadOnce & Readable;
  return { path, method, headers: { ...headers, 'content-length': String(length) }, body: pieces };
}

/** undici holds a buffer until the reply has ended; pieces that it reads one by one are free as soon as they are sent. */
const WORTH_RELEASING = 16 * 1024;

class ReadOnce implements Iterable<Uint8Array> {
  #pieces: readonly Uint8Array[];

  constructor(pieces: readonly Uint8Array[]) {
    this.#pieces = pieces;
  }

  [Symbol.iterator](): Iterator<Uint8Array> {
    const pieces = this.#pieces;
    this.#pieces = [];
    return pieces[Symbol.iterator]();
  }
}

/** The phases of one exchange; a class, since undici calls back into one object per request on the hot path. */
class RunningExchange implements Dispatcher.DispatchHandler, ExchangeControl {
  readonly #sink: ExchangeSink;
  readonly #timeouts: Timeouts;
  readonly #origin: string;
  #controller: Dispatcher.DispatchController | undefined;
  /** One timer for all phases, set no longer than the shortest of them: it may fire early, never late. */
  #timer: NodeJS.Timeout | undefined;
  #limitMs = 0;
  /** Infinite while the provider is paused: a paused provider is not an idle one. */
  #dueAt = Number.POSITIVE_INFINITY;
  #phase: 'waiting' | Phase = 'waiting';
  #over = false;

  constructor(sink: ExchangeSink, timeouts: Timeouts, origin: string) {
    this.#sink = sink;
    this.#timeouts = timeouts;
    this.#origin = origin;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#over) {
      controller.abort(new Error('client disconnected'));
      return;
    }
    this.#enter('head', this.#timeouts.headersMs);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (this.#over || status < 200) return;
    this.#enter('first byte', this.#timeouts.firstByteMs);
    this.#sink.onHead(status, headers);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#over) return;
    this.#enter('body', this.#timeouts.idleMs);
    if (!this.#sink.onChunk(chunk) && !this.#over) {
      this.#dueAt = Number.POSITIVE_INFINITY;
      controller.pause();
    }
  }

  onResponseEnd(): void {
    if (this.#finish()) this.#sink.onEnd();
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    if (this.#finish()) this.#sink.onFailure(describeFault(error, this.#origin, this.#phase));
  }

  resume(): void {
    if (this.#over) return;
    this.#enter('body', this.#timeouts.idleMs);
    this.#controller?.resume();
  }

  abort(): void {
    if (this.#finish()) this.#controller?.abort(new Error('client disconnected'));
  }

  #enter(phase: Phase, ms: number): void {
    const now = performance.now();
    this.#phase = phase;
    this.#limitMs = ms;
    this.#dueAt = now + ms;
    if (this.#timer === undefined) this.#arm(now);
  }

  #arm(now: number): void {
    const { headersMs, firstByteMs, idleMs } = this.#timeouts;
    const ms = Math.min(this.#dueAt - now, headersMs, firstByteMs, idleMs, LONGEST_TIMER_MS);
    this.#timer = setTimeout(RunningExchange.#fire, ms, this);
  }

  static #fire(exchange: RunningExchange): void {
    exchange.#onTime();
  }

  #onTime(): void {
    this.#timer = undefined;
    if (this.#dueAt === Number.POSITIVE_INFINITY) return;
    const now = performance.now();
    if (now < this.#dueAt) this.#arm(now);
    else if (this.#phase !== 'waiting' && this.#finish()) {
      this.#controller?.abort(new Error('timeout'));
      const waited = `${NEXT[this.#phase]} for ${this.#limitMs / 1000} s`;
      this.#sink.onFailure(createFailure('timeout', `${this.#origin} sent no ${waited}.`));
    }
  }

  #finish(): boolean {
    if (this.#over) return false;
    this.#over = true;
    clearTimeout(this.#timer);
    return true;
  }
}

/** setTimeout fires at once for a longer time. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

type Phase = 'head' | 'first byte' | 'body';

const NEXT = {
  head: 'reply',
  'first byte': 'first byte of its reply',
  body: 'further byte of its reply',
} as const;

function describeFault(error: Error & { code?: string }, origin: string, phase: string): Failure {
  const code = error.code ?? '';
  if (code === 'UND_ERR_CONNECT_TIMEOUT')
    return createFailure('timeout', `${origin} did not accept a connection in time.`);
  if (code === 'ECONNREFUSED')
    return createFailure('unreachable', `${origin} refused the connection. Is it running?`);
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return createFailure(
      'unreachable',
      `The host of ${origin} was not found. Check baseUrl and the network.`,
    );
  }
  if (code === FORBIDDEN) return createFailure('forbidden', error.message, { status: 502, final: true });
  if (/^(ERR_TLS|CERT_|DEPTH_|SELF_SIGNED|UNABLE_TO|ERR_SSL|EPROTO)/.test(code)) {
    return createFailure('unreachable', `No secure connection to ${origin} (${code}).`, { final: true });
  }
  if (code.startsWith('UND_ERR_INVALID'))
    return createFailure('bad-request', `The request cannot be sent: ${error.message}.`);
  if (code.startsWith('HPE_'))
    return createFailure('upstream-error', `${origin} did not answer in HTTP (${code}).`);
  if (phase === 'body') return createFailure('truncated', `${origin} broke off in the middle of its reply.`);
  return createFailure(
    'unreachable',
    `${origin} closed the connection without a reply (${code || error.name}).`,
  );
}

const FORBIDDEN = 'ERR_INSTAR_FORBIDDEN_ADDRESS';

/** Checks every address of a name at the moment of connecting: after an earlier check the name could be rebound. */
function createLookup(isForbiddenAddress: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    dns.lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '', 0);
      const bad = addresses.find(({ address }) => isForbiddenAddress(address));
      const first = addresses[0];
      if (bad !== undefined || first === undefined) {
        const refusal = new Error(
          `${hostname} resolves to ${bad?.address ?? 'no address'}, which is refused.`,
        );
        return callback(Object.assign(refusal, { code: FORBIDDEN }), '', 0);
      }
      if (options.all) return callback(null, addresses);
      callback(null, first.address, first.family);
    });
  };
}

/** Who wants to know what date servers show. */
interface DateListener {
  /** Asked for every request, so it must cost nothing. */
  isListening(): boolean;
  hear(date: number): void;
}

/** The same exchange; while someone listens, the dates of successful replies over TLS are passed on. */
export const withDateWitness =
  (exchange: Exchange, listener: DateListener): Exchange =>
  (request, sink) => {
    if (!request.origin.startsWith('https:') || !listener.isListening()) return exchange(request, sink);
    return exchange(request, {
      onHead: (status, headers) => {
        const date = typeof headers.date === 'string' ? Date.parse(headers.date) : Number.NaN;
        if (status < 300 && Number.isFinite(date)) listener.hear(date);
        sink.onHead(status, headers);
      },
      onChunk: (chunk) => sink.onChunk(chunk),
      onEnd: () => sink.onEnd(),
      onFailure: (failure) => sink.onFailure(failure),
    });
  };
