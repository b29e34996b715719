import { Agent } from 'undici';
import { DecodeError } from '../base/decode-error.ts';
import { protobufBytes, protobufFields, protobufInteger, protobufText } from '../base/protobuf.ts';
import { sleep } from '../base/sleep.ts';

/** Where spans are sent, as the settings say it now. */
export interface Receiver {
  /** The receiver's address; spans go to `/v1/traces` under it. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export type SendResult =
  | {
      readonly end: 'sent' /** Spans that the receiver took out. */;
      readonly rejected: number;
      readonly why?: string;
    }
  /** `refused`: the receiver will not take them at any time. `unreachable`: no answer in time, in any try. */
  | { readonly end: 'refused' | 'unreachable' | 'stopped'; readonly why: string };

interface SpanSender {
  /** Never rejects. */
  send(receiver: Receiver, body: Uint8Array): Promise<SendResult>;
  /** A send that runs ends soon, as `stopped`. */
  close(): void;
}

export interface SendLimits {
  /** Of one request, and the most tries. */
  readonly timeoutMs: number;
  readonly tries: number;
  /** The pause after the first try; twice as long after each other. */
  readonly pauseMs: number;
  /** A receiver that asks for a longer pause gets no further try: others wait behind this one. */
  readonly longestPauseMs: number;
}

const SEND_LIMITS: SendLimits = {
  timeoutMs: 10_000,
  tries: 5,
  pauseMs: 500,
  longestPauseMs: 30_000,
};

/** The statuses after which OTLP allows the same request again. */
const MAY_REPEAT: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const LONGEST_ANSWER = 64 * 1024;

/** Sends spans by OTLP over HTTP: one request at a time, repeated where the protocol allows it, for a bounded time. */
export function createSpanSender(limits: SendLimits = SEND_LIMITS): SpanSender {
  const stop = new AbortController();
  const agent = new Agent({ connections: 1 });

  const once = async ({ url, headers }: Receiver, body: Uint8Array): Promise<OneAnswer> => {
    const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(limits.timeoutMs)]);
    const address = new URL(tracesUrl(url));
    try {
      const reply = await agent.request({
        origin: address.origin,
        path: `${address.pathname}${address.search}`,
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/x-protobuf' },
        body,
        signal,
      });
      const answer = await readSome(reply.body);
      return { status: reply.statusCode, retryAfter: first(reply.headers['retry-after']), answer };
    } catch (error) {
      if (stop.signal.aborted) return { status: 0, why: 'stopping' };
      const { code, message } = error as { readonly code?: string; readonly message?: string };
      return { status: 0, why: code ?? message ?? 'no answer' };
    }
  };

  return {
    send: async (receiver, body) => {
      let pause = limits.pauseMs;
      for (let tries = 1; ; tries++) {
        const { status, why = `HTTP ${status}`, retryAfter, answer } = await once(receiver, body);
        if (stop.signal.aborted) return { end: 'stopped', why: 'stopping' };
        if (status >= 200 && status < 300) return { end: 'sent', ...partialSuccess(answer) };
        if (status !== 0 && !MAY_REPEAT.has(status)) return { end: 'refused', why };
        const asked = retryAfterMs(retryAfter) ?? pause;
        if (tries >= limits.tries || asked > limits.longestPauseMs) return { end: 'unreachable', why };
        await sleep(asked, stop.signal);
        pause *= 2;
      }
    },
    close: () => {
      stop.abort();
      void agent.destroy();
    },
  };
}

interface OneAnswer {
  /** 0 without an answer. */
  readonly status: number;
  readonly why?: string;
  readonly retryAfter?: string | undefined;
  readonly answer?: Uint8Array;
}

const first = (value: string | string[] | undefined): string | undefined =>
  typeof value === 'string' ? value : value?.[0];

/** As the exporters of OpenTelemetry read OTEL_EXPORTER_OTLP_ENDPOINT; an address that is complete stays as it is. */
function tracesUrl(url: string): string {
  const bare = url.replace(/\/+$/, '');
  return bare.endsWith('/v1/traces') ? bare : `${bare}/v1/traces`;
}

/** Seconds, or a date. */
function retryAfterMs(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}

async function readSome(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body) {
    size += part.length;
    if (size > LONGEST_ANSWER) break;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** ExportTraceServiceResponse: a receiver may take a request and leave some of its spans out. */
function partialSuccess(answer: Uint8Array | undefined): {
  readonly rejected: number;
  readonly why?: string;
} {
  try {
    for (const field of protobufFields(answer ?? NOTHING)) {
      if (field.number !== 1) continue;
      let rejected = 0;
      let why: string | undefined;
      for (const part of protobufFields(protobufBytes(field))) {
        if (part.number === 1) rejected = protobufInteger(part);
        if (part.number === 2) why = protobufText(part);
      }
      return { rejected, ...(why === undefined ? {} : { why }) };
    }
  } catch (error) {
    // Receivers answer with JSON or with nothing, too: the status said that the spans were taken.
    if (!(error instanceof DecodeError)) throw error;
  }
  return { rejected: 0 };
}

const NOTHING = new Uint8Array(0);
