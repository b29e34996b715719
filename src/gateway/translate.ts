import type { ChatEvent, ChatRequest } from '../core/chat.ts';
import { createFailure, type Failure } from '../core/failure.ts';
import { asObject, type JsonObject, parseJson } from '../core/json.ts';
import type { Target } from '../core/upstream.ts';
import { type StreamEncoder, type Wire, WireError } from '../core/wire.ts';
import { encodeTokenCount, estimateRequestTokens } from '../wire/anthropic/count-tokens.ts';
import { askUntilPassed, type HeldReply, MOST_CHECKED, type ReplyCheck } from './check-reply.ts';
import { credentialHeaders, traceHeaders } from './headers.ts';
import type { RunningTurn, Turn, UpstreamAttempt } from './turn.ts';

interface TranslationOptions {
  readonly target: Target;
  readonly body: Buffer;
  readonly marks: Readonly<Record<string, string>>;
  readonly check: ReplyCheck | undefined;
}

const PING_MS = 15_000;

/** One try at a model behind another wire: decodes the caller's request and encodes the reply for the caller's wire. */
export async function answerTranslated(
  turn: RunningTurn,
  { target, body, marks, check }: TranslationOptions,
): Promise<UpstreamAttempt> {
  const read = decodeRequestBody(turn.wire, body);
  if ('kind' in read) return { kind: 'failed', failure: read };
  const { request } = read;
  const { access, model } = target;
  const trace = traceHeaders(turn.request.headers);
  const ask = (): AsyncIterable<ChatEvent> =>
    target.chat(model === undefined ? request : { ...request, model }, {
      signal: turn.disconnect.signal,
      turn: { id: turn.id, session: turn.session.session, generation: turn.shown.generation },
      limits: turn.overlays?.limits,
      ...(trace === undefined ? {} : { trace }),
      ...(access.kind === 'caller' ? { credentials: credentialHeaders(turn.request.headers) } : {}),
    });
  if (request.stream) return streamReply(turn, ask(), turn.wire.createStreamEncoder(read.body), marks, check);
  if (check !== undefined) return askUntilPassed(turn, check, () => wholeReply(turn, ask(), marks));
  const reply = await wholeReply(turn, ask(), marks);
  return reply.kind === 'held' ? reply.send() : reply;
}

/** Sends a reply that Instar wrote itself; no model is asked. */
export async function answerWith(
  turn: RunningTurn,
  events: readonly ChatEvent[],
  marks: Readonly<Record<string, string>>,
): Promise<UpstreamAttempt> {
  const { outline, body, wire } = turn;
  const reply = (async function* () {
    yield* events;
  })();
  if (outline?.stream !== true) {
    const whole = await wholeReply(turn, reply, marks);
    return whole.kind === 'held' ? whole.send() : whole;
  }
  const options = outline.member('stream_options');
  const stream_options = body && options ? asObject(parseJson(body.toString('utf8', ...options))) : {};
  return streamReply(turn, reply, wire.createStreamEncoder({ stream_options }), marks, undefined);
}

async function wholeReply(
  turn: RunningTurn,
  events: AsyncIterable<ChatEvent>,
  marks: Readonly<Record<string, string>>,
): Promise<UpstreamAttempt | HeldReply> {
  const reply: ChatEvent[] = [];
  for await (const event of events) {
    if (event.type === 'failure') return settleFailure(turn, event.failure);
    reply.push(event);
  }
  const send = () => sendJsonReply(turn, turn.wire.encodeReply(reply), marks);
  return { kind: 'held', events: reply, send };
}

async function streamReply(
  turn: RunningTurn,
  events: AsyncIterable<ChatEvent>,
  encoder: StreamEncoder,
  marks: Readonly<Record<string, string>>,
  check: ReplyCheck | undefined,
): Promise<UpstreamAttempt> {
  const { response } = turn;
  const seen = check && createSeenReply();
  let held = '';
  let ping: NodeJS.Timeout | undefined;
  try {
    for await (const event of events) {
      if (event.type === 'failure' && !response.headersSent) return settleFailure(turn, event.failure);
      const text = held + encoder.encode(event);
      seen?.add(event, text.length);
      if (event.type === 'reply-start') {
        // A model that fails at once must not become a 200: the head is sent with the first event after `reply-start`.
        held = text;
        continue;
      }
      held = '';
      if (!response.headersSent) {
        const head = streamHead(marks);
        turn.record.head(head['content-type'], undefined);
        response.writeHead(200, head);
        ping = setInterval(() => response.write(': ping\n\n'), PING_MS);
      }
      const bytes = Buffer.from(text);
      turn.record.chunk(bytes);
      if (event.type === 'failure') {
        response.end(bytes);
        if (turn.disconnect.isGone) return { kind: 'sent', end: 'client-abort', status: 200 };
        return { kind: 'sent', end: 'truncated', status: 200, failure: event.failure };
      }
      if (!response.write(bytes)) await drained(turn);
      if (turn.disconnect.isGone) return { kind: 'sent', end: 'client-abort', status: 200 };
    }
    response.end();
    if (check !== undefined && seen?.isWhole()) check.passes(seen.events);
    return { kind: 'sent', end: turn.disconnect.isGone ? 'client-abort' : 'complete', status: 200 };
  } finally {
    clearInterval(ping);
  }
}

/** The events of a stream, for the checks, unless they are too long for them. */
function createSeenReply() {
  const events: ChatEvent[] = [];
  let size = 0;
  return {
    events,
    add: (event: ChatEvent, length: number): void => {
      size += length;
      if (size <= MOST_CHECKED) events.push(event);
    },
    isWhole: () => size <= MOST_CHECKED,
  };
}

const streamHead = (marks: Readonly<Record<string, string>>) => ({
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  ...marks,
});

const settleFailure = (turn: RunningTurn, failure: Failure): UpstreamAttempt =>
  turn.disconnect.isGone ? { kind: 'sent', end: 'client-abort', status: 499 } : { kind: 'failed', failure };

function drained({ response, disconnect: { signal } }: Turn): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    response.on('drain', done);
    signal.addEventListener('abort', done);
    if (signal.aborted) done();
  });
}

/** For a provider without a token-counting route on the caller's wire: our estimate, lessons included. */
export function countTokens(
  turn: RunningTurn,
  bytes: Buffer,
  marks: Readonly<Record<string, string>>,
): UpstreamAttempt {
  const read = decodeRequestBody(turn.wire, bytes);
  if ('kind' in read) return { kind: 'failed', failure: read };
  return sendJsonReply(turn, encodeTokenCount(estimateRequestTokens(read.request)), marks);
}

interface DecodedRequest {
  /** The caller's JSON. */
  readonly body: JsonObject;
  /** The same as a ChatRequest. */
  readonly request: ChatRequest;
}

/** Decodes a caller's request, or explains what is wrong with it. */
function decodeRequestBody(wire: Wire, bytes: Buffer): DecodedRequest | Failure {
  const value = parseJson(bytes.toString('utf8'));
  if (value === undefined) return createFailure('bad-request', 'The request body is not valid JSON.');
  const body = asObject(value);
  try {
    return { body, request: wire.decodeRequest(body) };
  } catch (error) {
    if (error instanceof WireError) return createFailure('bad-request', error.message);
    throw error;
  }
}

/** Sends a complete reply that Instar wrote itself. */
function sendJsonReply(
  { response, record }: RunningTurn,
  body: JsonObject,
  marks: Readonly<Record<string, string>>,
): UpstreamAttempt {
  const bytes = Buffer.from(JSON.stringify(body));
  record.head('application/json', undefined);
  record.chunk(bytes);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length, ...marks });
  response.end(bytes);
  return { kind: 'sent', end: 'complete', status: 200 };
}
