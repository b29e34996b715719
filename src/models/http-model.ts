import type { ChatEvent, ChatModel, ChatOptions, ChatRequest } from '../core/chat.ts';
import type { Clock } from '../core/clock.ts';
import { createFailure, type Failure } from '../core/failure.ts';
import { isObject, parseJson } from '../core/json.ts';
import { parseRetryAfter } from '../core/retry.ts';
import type { Access, Exchange, ExchangeRequest, Upstream } from '../core/upstream.ts';
import type { Wire, WireName } from '../core/wire.ts';
import { plainTextExcerpt } from '../wire/excerpt.ts';
import { createSseDecoder } from '../wire/sse.ts';
import { createChatEvents, isTerminalEvent, ModelError } from './chat-events.ts';
import { decompressBody, type HttpReply, openHttpReply } from './http-reply.ts';

export interface HttpModelOptions {
  readonly exchange: Exchange;
  /** The provider's wire. */
  readonly wire: Wire;
  readonly upstream: Upstream;
  readonly access: Access;
  /** The model's name at the provider; default: the request's model name. */
  readonly model?: string;
  readonly clock: Clock;
}

/** A model behind HTTP. One try, no redirects; back-pressure reaches the provider. */
export function createHttpModel(options: HttpModelOptions): ChatModel {
  return (request, { signal, credentials, trace, limits }) =>
    createChatEvents(signal, (inner) => run(options, request, { credentials, trace, limits }, inner));
}

interface GivenOptions {
  readonly credentials: ChatOptions['credentials'];
  readonly trace: ChatOptions['trace'];
  readonly limits: ChatOptions['limits'];
}

async function* run(
  options: HttpModelOptions,
  request: ChatRequest,
  given: GivenOptions,
  signal: AbortSignal,
): AsyncGenerator<ChatEvent, undefined> {
  let reply: HttpReply | undefined;
  let over = false;
  try {
    reply = await openHttpReply(options.exchange, encodeExchange(options, request, given), signal);
    for await (const event of readHttpReply(options.wire, reply, options.clock.now())) {
      over = isTerminalEvent(event);
      yield event;
    }
  } finally {
    if (over) reply?.release();
    else reply?.close();
  }
}

function encodeExchange(
  { wire, upstream, access, model }: HttpModelOptions,
  request: ChatRequest,
  { credentials, trace, limits }: GivenOptions,
): ExchangeRequest {
  const body = wire.encodeRequest(model === undefined ? request : { ...request, model });
  return {
    method: 'POST',
    origin: upstream.origin,
    path: upstream.basePath + wire.path,
    headers: { ...trace, ...createProviderHeaders(wire.name, access, credentials, request.stream) },
    body: Buffer.from(JSON.stringify(body)),
    timeouts: limits,
  };
}

const MOST_ERROR_BYTES = 1024 * 1024;
const MOST_WHOLE_BYTES = 64 * 1024 * 1024;

/** A provider's reply as events. May throw `ModelError` or end early: `createChatEvents` adds the terminal event. */
async function* readHttpReply(
  wire: Wire,
  reply: HttpReply,
  nowMs: number,
): AsyncGenerator<ChatEvent, undefined> {
  if (reply.status >= 400) {
    yield { type: 'failure', failure: await readFailure(wire, reply, nowMs) };
    return;
  }
  if (reply.status >= 300) throw new ModelError(redirectFailure(reply));
  const body = decompressBody(reply.body, reply.header('content-encoding'));
  const type = reply.header('content-type')?.toLowerCase() ?? '';
  if (type.startsWith('text/event-stream')) yield* readStream(wire, body);
  else yield* await readWhole(wire, body, type);
}

async function* readStream(wire: Wire, body: AsyncIterable<Buffer>): AsyncGenerator<ChatEvent, undefined> {
  const sse = createSseDecoder();
  const decoder = wire.createStreamDecoder();
  for await (const chunk of body) {
    for (const event of sse.push(chunk)) yield* decoder.decode(event);
    if (sse.overflow)
      throw new ModelError(createFailure('upstream-error', 'One event of the reply is too large.'));
  }
  yield* decoder.end();
}

async function readWhole(
  wire: Wire,
  body: AsyncIterable<Buffer>,
  type: string,
): Promise<readonly ChatEvent[]> {
  const { text, cut } = await readText(body, MOST_WHOLE_BYTES);
  if (cut) throw new ModelError(createFailure('upstream-error', 'The reply is larger than 64 MiB.'));
  // Some local servers send no content-type.
  const value = type === '' || type.includes('json') ? parseJson(text) : undefined;
  if (isObject(value)) return wire.decodeReply(value);
  const shown = plainTextExcerpt(text);
  const message = `The provider answered with ${type === '' ? 'no content-type' : plainTextExcerpt(type)} instead of a reply`;
  throw new ModelError(
    createFailure('upstream-error', shown === '' ? `${message}.` : `${message}: ${shown}`),
  );
}

async function readFailure(wire: Wire, reply: HttpReply, nowMs: number): Promise<Failure> {
  let text = '';
  try {
    const body = decompressBody(reply.body, reply.header('content-encoding'));
    text = (await readText(body, MOST_ERROR_BYTES)).text;
  } catch (error) {
    // The status already reports the failure; only an abort by the caller takes precedence.
    if (!(error instanceof ModelError) || error.failure.kind === 'aborted') throw error;
  }
  const failure = wire.decodeFailure(reply.status, text);
  const retryAfterMs = readRetryAfter(reply, nowMs);
  return {
    ...failure,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(reply.header('x-should-retry') === 'false' ? { final: true } : {}),
  };
}

function readRetryAfter(reply: HttpReply, nowMs: number): number | undefined {
  const precise = reply.header('retry-after-ms')?.trim() ?? '';
  if (/^\d{1,15}(\.\d{1,15})?$/.test(precise)) return Math.round(Number(precise));
  return parseRetryAfter(reply.header('retry-after'), nowMs);
}

function redirectFailure(reply: HttpReply): Failure {
  const location = reply.header('location') ?? '';
  const where = URL.canParse(location) ? ` to ${new URL(location).origin}` : '';
  const message =
    `The provider redirects (${reply.status})${where}. Instar does not follow redirects, so that a key never leaves ` +
    "its origin. Set the provider's baseUrl to the final address.";
  return createFailure('upstream-error', message, { final: true });
}

async function readText(body: AsyncIterable<Buffer>, most: number): Promise<{ text: string; cut: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > most) break;
  }
  return { text: Buffer.concat(chunks).subarray(0, most).toString('utf8'), cut: size > most };
}

type Credentials = Readonly<Record<string, string>>;

/** Sent on the Anthropic wire unless the credentials contain another; the provider refuses a request without one. */
const ANTHROPIC_VERSION = '2023-06-01';

/** The headers of one request to a provider. `caller` is used only if the provider entry has no key. */
export function createProviderHeaders(
  wire: WireName,
  access: Access,
  caller: Credentials | undefined,
  stream: boolean,
): Record<string, string> {
  return {
    'content-type': 'application/json',
    accept: stream ? 'text/event-stream, application/json' : 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'instar',
    ...(wire === 'anthropic' ? { 'anthropic-version': ANTHROPIC_VERSION } : {}),
    ...credentialsFor(wire, access, caller),
  };
}

function credentialsFor(wire: WireName, access: Access, caller: Credentials | undefined): Credentials {
  if (access.kind === 'own') return access.credentials();
  if (access.kind === 'open' || caller === undefined) return {};
  return translateCredentials(wire, caller);
}

/**
 * Moves the caller's key to the header that the provider's wire uses. A bearer token stays one on the Anthropic wire
 * (subscriptions sign in that way) unless it is an API key.
 */
function translateCredentials(wire: WireName, caller: Credentials): Credentials {
  const { authorization, 'x-api-key': apiKey, ...rest } = caller;
  if (wire === 'anthropic') {
    const bearer = /^bearer +(sk-ant-api\S*) *$/i.exec(authorization ?? '')?.[1];
    return apiKey === undefined && bearer !== undefined ? { ...rest, 'x-api-key': bearer } : caller;
  }
  if (apiKey === undefined || authorization !== undefined) return caller;
  return { ...rest, authorization: `Bearer ${apiKey}` };
}
