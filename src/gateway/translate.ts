import type { ChatEvent, ChatRequest } from '../core/chat.ts';
import { createFailure, type FailedResult, type Failure, refusal } from '../core/failure.ts';
import { asObject, compact, type JsonObject, parseJson } from '../core/json.ts';
import type { Target } from '../core/upstream.ts';
import { type StreamEncoder, type Wire, WireError } from '../core/wire.ts';
import { encodeTokenCount, estimateRequestTokens } from '../wire/anthropic/count-tokens.ts';
import { askUntilPassed, type HeldReply, MOST_CHECKED, type ReplyCheck } from './check-reply.ts';
import { credentialHeaders, traceHeaders } from './headers.ts';
import type { ReplyMarks, RunningTurn, Turn, UpstreamAttempt } from './turn.ts';

interface TranslationOptions {
  readonly target: Target;
  readonly body: Buffer;
  readonly check: ReplyCheck | undefined;
}

const PING_MS = 15_000;

/** One try at a model behind another wire: decodes the caller's request and encodes the reply for the caller's wire. */
export async function answerTranslated(
  recorded: RunningTurn,
  { target, body, check }: TranslationOptions,
): Promise<UpstreamAttempt> {
  const { turn, plan } = recorded;
  const decoded = decodeRequestBody(turn.wire, body);
  if (!decoded.ok) return { kind: 'failed', failure: decoded.failure };
  const { request } = decoded;
  const { access, model } = target;
  const { headers } = turn.request;
  const ask = (): AsyncIterable<ChatEvent> =>
    target.chat(model === undefined ? request : { ...request, model }, {
      signal: turn.disconnect.signal,
      turn: { id: turn.id, session: turn.session.session, generation: plan.shown.generation },
      limits: plan.limits,
      ...compact({
        trace: traceHeaders(headers),
        credentials: access.kind === 'caller' ? credentialHeaders(headers) : undefined,
      }),
    });
  if (request.stream) return streamReply(recorded, ask(), turn.wire.createStreamEncoder(decoded.body), check);
  if (check !== undefined) return askUntilPassed(turn, check, () => wholeReply(recorded, ask()));
  const reply = await wholeReply(recorded, ask());
  return reply.kind === 'held' ? reply.send() : reply;
}

/** Sends a reply that Instar wrote itself; no model is asked. */
export async function answerWith(
  recorded: RunningTurn,
  events: readonly ChatEvent[],
): Promise<UpstreamAttempt> {
  const { outline, body, wire } = recorded.turn;
  const reply = (async function* () {
    yield* events;
  })();
  if (outline?.stream !== true) {
    const whole = await wholeReply(recorded, reply);
    return whole.kind === 'held' ? whole.send() : whole;
  }
  const options = outline.member('stream_options');
  const stream_options = body && options ? asObject(parseJson(body.toString('utf8', ...options))) : {};
  return streamReply(recorded, reply, wire.createStreamEncoder({ stream_options }), undefined);
}

async function wholeReply(
  recorded: RunningTurn,
  events: AsyncIterable<ChatEvent>,
): Promise<UpstreamAttempt | HeldReply> {
  const reply: ChatEvent[] = [];
  for await (const event of events) {
    if (event.type === 'failure') return settleFailure(recorded.turn, event.failure);
    reply.push(event);
  }
  const send = () => sendJsonReply(recorded, recorded.turn.wire.encodeReply(reply));
  return { kind: 'held', events: reply, send };
}

async function streamReply(
  { turn, record, marks }: RunningTurn,
  events: AsyncIterable<ChatEvent>,
  encoder: StreamEncoder,
  check: ReplyCheck | undefined,
): Promise<UpstreamAttempt> {
  const { response } = turn;
  const checked = check && createCheckedEvents();
  let held = '';
  let ping: NodeJS.Timeout | undefined;
  try {
    for await (const event of events) {
      if (event.type === 'failure' && !response.headersSent) return settleFailure(turn, event.failure);
      const text = held + encoder.encode(event);
      checked?.add(event, text.length);
      if (event.type === 'reply-start') {
        // A model that fails at once must not become a 200: the head is sent with the first event after `reply-start`.
        held = text;
        continue;
      }
      held = '';
      if (!response.headersSent) {
        const head = streamHead(marks);
        record.head(head['content-type'], undefined);
        response.writeHead(200, head);
        ping = setInterval(() => response.write(': ping\n\n'), PING_MS);
      }
      const bytes = Buffer.from(text);
      record.chunk(bytes);
      if (event.type === 'failure') {
        response.end(bytes);
        if (turn.disconnect.isGone) return { kind: 'sent', end: 'client-abort', status: 200 };
        return { kind: 'sent', end: 'truncated', status: 200, failure: event.failure };
      }
      if (!response.write(bytes)) await drained(turn);
      if (turn.disconnect.isGone) return { kind: 'sent', end: 'client-abort', status: 200 };
    }
    response.end();
    if (check !== undefined && checked?.isWhole()) check.passes(checked.events);
    return { kind: 'sent', end: turn.disconnect.isGone ? 'client-abort' : 'complete', status: 200 };
  } finally {
    clearInterval(ping);
  }
}

/** The events of a stream, for the checks, unless they are too long for them. */
function createCheckedEvents() {
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

const streamHead = (marks: ReplyMarks) => ({
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  ...marks,
});

const settleFailure = (turn: Turn, failure: Failure): UpstreamAttempt =>
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
export async function countTokens(recorded: RunningTurn, bytes: Buffer): Promise<UpstreamAttempt> {
  const decoded = decodeRequestBody(recorded.turn.wire, bytes);
  if (!decoded.ok) return { kind: 'failed', failure: decoded.failure };
  return sendJsonReply(recorded, encodeTokenCount(estimateRequestTokens(decoded.request)));
}

type DecodedRequest =
  /** The caller's JSON, and the same as a ChatRequest. */
  { readonly ok: true; readonly body: JsonObject; readonly request: ChatRequest } | FailedResult;

/** Decodes a caller's request, or explains what is wrong with it. */
function decodeRequestBody(wire: Wire, bytes: Buffer): DecodedRequest {
  const value = parseJson(bytes.toString('utf8'));
  if (value === undefined)
    return refusal(createFailure('bad-request', 'The request body is not valid JSON.'));
  const body = asObject(value);
  try {
    return { ok: true, body, request: wire.decodeRequest(body) };
  } catch (error) {
    if (error instanceof WireError) return refusal(createFailure('bad-request', error.message));
    throw error;
  }
}

/** Sends a complete reply that Instar wrote itself. */
function sendJsonReply(
  { turn: { response }, record, marks }: RunningTurn,
  body: JsonObject,
): UpstreamAttempt {
  const bytes = Buffer.from(JSON.stringify(body));
  record.head('application/json', undefined);
  record.chunk(bytes);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length, ...marks });
  response.end(bytes);
  return { kind: 'sent', end: 'complete', status: 200 };
}
