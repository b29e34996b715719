import type { Clock } from '../core/clock.ts';
import { createFailure, type Failure } from '../core/failure.ts';
import { parseRetryAfter } from '../core/retry.ts';
import type { Exchange, ExchangeControl, ExchangeSink, Target, Upstream } from '../core/upstream.ts';
import type { Wire } from '../core/wire.ts';
import {
  askUntilPassed,
  isEventStream,
  MOST_CHECKED,
  type ReplyBytes,
  type ReplyCheck,
  readReplyBytes,
} from './check-reply.ts';
import type { ReplyWatch } from './created-objects.ts';
import { clientReplyHeaders, type HeaderMap, upstreamRequestHeaders } from './headers.ts';
import type { RunningTurn, UpstreamAttempt } from './turn.ts';

export interface RelayOptions {
  readonly exchange: Exchange;
  readonly clock: Clock;
  readonly target: Target;
  readonly upstream: Upstream;
  /** The client's bytes, or those with a block spliced in. */
  readonly body: readonly Buffer[];
  /** They are not the bytes that the client sent. */
  readonly isEdited: boolean;
  /** Absent, nearly always: then no part of a reply is kept. */
  readonly check: ReplyCheck | undefined;
  /** Absent, nearly always. */
  readonly watch: ReplyWatch | undefined;
  /** Called when the client gets the first byte of a reply. */
  readonly onBegun: () => void;
}

const MAX_ERROR_BODY = 1_048_576;
const NO_HEADERS = {};
const NO_BYTES = Buffer.alloc(0);

/**
 * One try at a provider that speaks the caller's wire: bytes out, bytes back, nothing parsed in between. With checks, a reply that is
 * not a stream is held back and may be asked for again.
 */
export function relay(recorded: RunningTurn, options: RelayOptions): Promise<UpstreamAttempt> {
  const { check } = options;
  if (check === undefined) return new Promise((resolve) => startRelay(recorded, options, { resolve }));
  const { turn } = recorded;
  return askUntilPassed(
    turn,
    check,
    () =>
      new Promise((resolve) => {
        const hold = async ({ send, ...reply }: HeldBytes): Promise<void> =>
          resolve({ kind: 'held', events: await readReplyBytes(turn.wire, reply), send });
        startRelay(recorded, options, { resolve, hold });
      }),
  );
}

/** Where the result of a try goes. */
interface RelayResult {
  readonly resolve: (attempt: UpstreamAttempt) => void;
  /** Takes a whole reply that was held back; absent where none is. */
  readonly hold?: (reply: HeldBytes) => void;
}

function startRelay(recorded: RunningTurn, options: RelayOptions, result: RelayResult): void {
  const { exchange, target, upstream, body, isEdited } = options;
  const { request, path } = recorded.turn;
  const headers = upstreamRequestHeaders(request.headers, target.access, isEdited);
  const method = request.method ?? 'POST';
  const sink = new RelaySink(recorded, options, result);
  sink.control = exchange(
    {
      method,
      origin: upstream.origin,
      path: upstream.basePath + path,
      headers,
      body: method === 'GET' ? undefined : body,
      timeouts: recorded.plan.limits,
    },
    sink,
  );
}

type SinkOptions = Pick<RelayOptions, 'clock' | 'upstream' | 'check' | 'watch' | 'onBegun'>;

/** A whole reply that was held back. */
interface HeldBytes extends ReplyBytes {
  readonly send: () => UpstreamAttempt;
}

/** Holds the head back until the first byte: until then a dead provider can still be retried. */
class RelaySink implements ExchangeSink {
  control: ExchangeControl | undefined;
  readonly #recorded: RunningTurn;
  readonly #options: SinkOptions;
  readonly #result: RelayResult;
  #status = 0;
  #headers: Readonly<Record<string, string | string[] | undefined>> = NO_HEADERS;
  #sent = false;
  readonly #errorChunks: Buffer[] = [];
  #errorSize = 0;
  /** The reply so far, for the checks; undefined without any, and for a reply that is too long for them. */
  #reply: Buffer[] | undefined;
  #replySize = 0;
  /** The client gets nothing before the reply is complete. */
  #isHeld = false;
  #tail: Buffer = NO_BYTES;
  /** A `drain` listener is needed only once the reply is faster than its reader. */
  #isAwaitingDrain = false;

  constructor(
    recorded: RunningTurn,
    { clock, upstream, check, watch, onBegun }: RelayOptions,
    result: RelayResult,
  ) {
    this.#recorded = recorded;
    // Not the body: a stream stays open for longer than its request is needed.
    this.#options = { clock, upstream, check, watch, onBegun };
    this.#result = result;
    recorded.turn.disconnect.onGone(this.#onGone);
  }

  readonly #onGone = () => {
    this.control?.abort();
    this.#settle({ kind: 'sent', end: 'client-abort', status: this.#sent ? this.#status : 499 });
  };
  readonly #drained = () => this.control?.resume();

  onHead(status: number, headers: Readonly<Record<string, string | string[] | undefined>>): void {
    this.#status = status;
    this.#headers = headers;
    const { check } = this.#options;
    if (check === undefined || status >= 300) return;
    this.#reply = [];
    this.#isHeld = check.reasks > 0 && !isEventStream(String(headers['content-type'] ?? ''));
  }

  onChunk(chunk: Buffer): boolean {
    if (this.#status >= 300) {
      this.#errorSize += chunk.length;
      this.#errorChunks.push(chunk);
      if (this.#errorSize > MAX_ERROR_BODY) {
        this.control?.abort();
        this.onEnd();
      }
      return true;
    }
    return this.#reply === undefined ? this.#pass(chunk) : this.#keep(chunk, this.#reply);
  }

  #keep(chunk: Buffer, reply: Buffer[]): boolean {
    reply.push(chunk);
    this.#replySize += chunk.length;
    const isTooLong = this.#replySize > MOST_CHECKED;
    if (isTooLong) this.#reply = undefined;
    if (!this.#isHeld) return this.#pass(chunk);
    if (!isTooLong) return true;
    this.#isHeld = false;
    return reply.map((one) => this.#pass(one)).every(Boolean);
  }

  #pass(chunk: Buffer): boolean {
    if (!this.#sent) this.#sendHead();
    this.#recorded.record.chunk(chunk);
    this.#options.watch?.chunk(chunk);
    this.#tail = chunk.length >= 4 ? chunk : Buffer.concat([this.#tail.subarray(-4), chunk]);
    const hasRoom = this.#recorded.turn.response.write(chunk);
    if (!hasRoom && !this.#isAwaitingDrain) {
      this.#isAwaitingDrain = true;
      this.#recorded.turn.response.on('drain', this.#drained);
    }
    return hasRoom;
  }

  onEnd(): void {
    const { wire } = this.#recorded.turn;
    if (this.#status >= 300) {
      const body = Buffer.concat(this.#errorChunks);
      const error = { status: this.#status, headers: this.#headers, body };
      const failure = describeReply(wire, error, this.#options);
      const isWhole = this.#status >= 400 && this.#errorSize <= MAX_ERROR_BODY;
      this.#settle(isWhole ? { kind: 'failed', failure, reply: error } : { kind: 'failed', failure });
      return;
    }
    const reply = this.#reply;
    const { hold } = this.#result;
    if (this.#isHeld && reply !== undefined && hold !== undefined) {
      this.#release();
      hold({ ...this.#replyBytes(reply), send: () => this.#sendHeld(reply) });
      return;
    }
    this.#settle(this.#finish());
    const { check } = this.#options;
    if (reply !== undefined && check !== undefined)
      void readReplyBytes(wire, this.#replyBytes(reply)).then((events) => check.passes(events));
  }

  #finish(): UpstreamAttempt {
    if (!this.#sent) this.#sendHead();
    this.#options.watch?.end();
    this.#recorded.turn.response.end();
    return { kind: 'sent', end: 'complete', status: this.#status };
  }

  #sendHeld(reply: readonly Buffer[]): UpstreamAttempt {
    if (this.#recorded.turn.disconnect.isGone) return { kind: 'sent', end: 'client-abort', status: 499 };
    for (const chunk of reply) this.#pass(chunk);
    return this.#finish();
  }

  #replyBytes(reply: readonly Buffer[]): ReplyBytes {
    const { 'content-type': type, 'content-encoding': encoding } = this.#headers;
    return {
      bytes: Buffer.concat(reply),
      type: String(type ?? ''),
      encoding: encoding === undefined ? undefined : String(encoding),
    };
  }

  onFailure(failure: Failure): void {
    const { response, wire } = this.#recorded.turn;
    if (!this.#sent) {
      this.#settle({ kind: 'failed', failure });
      return;
    }
    // An error event can be added only between two events; inside one it would corrupt both.
    if (this.#isOpenStream() && endsEvent(this.#tail)) response.end(wire.encodeStreamFailure(failure));
    else response.destroy();
    this.#settle({ kind: 'sent', end: 'truncated', status: this.#status, failure });
  }

  #sendHead(): void {
    this.#sent = true;
    const { 'content-type': type, 'content-encoding': encoding } = this.#headers;
    const stated = String(type ?? '');
    const packed = encoding === undefined ? undefined : String(encoding);
    this.#recorded.record.head(stated, packed);
    this.#options.watch?.head(stated, packed);
    const headers: HeaderMap = clientReplyHeaders(this.#headers);
    this.#recorded.turn.response.writeHead(this.#status, Object.assign(headers, this.#recorded.marks));
    this.#options.onBegun();
  }

  /** Whether an event can be appended: an uncompressed event stream without a content-length. */
  #isOpenStream(): boolean {
    const { 'content-type': type, 'content-encoding': encoding, 'content-length': length } = this.#headers;
    return (
      String(type ?? '').startsWith('text/event-stream') && encoding === undefined && length === undefined
    );
  }

  #settle(attempt: UpstreamAttempt): void {
    this.#release();
    this.#result.resolve(attempt);
  }

  #release(): void {
    this.#recorded.turn.disconnect.onGone(undefined);
    if (this.#isAwaitingDrain) this.#recorded.turn.response.off('drain', this.#drained);
  }
}

function describeReply(
  wire: Wire,
  reply: { status: number; headers: Readonly<Record<string, string | string[] | undefined>>; body: Buffer },
  { clock, upstream }: SinkOptions,
): Failure {
  const { status, headers } = reply;
  if (status < 400) {
    return createFailure(
      'upstream-error',
      `${upstream.origin} answered with a redirect (${status}), which Instar never follows. Correct the provider’s baseUrl.`,
      { final: true },
    );
  }
  const retryAfter = typeof headers['retry-after'] === 'string' ? headers['retry-after'] : undefined;
  const retryAfterMs = parseRetryAfter(retryAfter, clock.now());
  return {
    ...wire.decodeFailure(status, reply.body.toString('utf8')),
    status,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(headers['x-should-retry'] === 'false' ? { final: true } : {}),
  };
}

const endsEvent = (tail: Buffer): boolean => {
  const text = tail.subarray(-4).toString('latin1');
  return text.endsWith('\n\n') || text.endsWith('\r\n\r\n') || text.endsWith('\r\r');
};
