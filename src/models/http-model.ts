import type { ChatEvent, ChatModel, ChatOptions, ChatRequest } from '../core/chat.ts';
import type { Clock } from '../core/clock.ts';
import type { Access, Exchange, ExchangeRequest, Upstream } from '../core/upstream.ts';
import type { Wire } from '../core/wire.ts';
import { createChatEvents, isTerminal } from './chat-events.ts';
import { openReply, type Reply } from './open-reply.ts';
import { createProviderHeaders } from './provider-headers.ts';
import { readReply } from './read-reply.ts';

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
  return (request, { signal, credentials }) =>
    createChatEvents(signal, (inner) => run(options, request, credentials, inner));
}

async function* run(
  options: HttpModelOptions,
  request: ChatRequest,
  credentials: ChatOptions['credentials'],
  signal: AbortSignal,
): AsyncGenerator<ChatEvent, undefined> {
  let reply: Reply | undefined;
  let over = false;
  try {
    reply = await openReply(options.exchange, encodeExchange(options, request, credentials), signal);
    for await (const event of readReply(options.wire, reply, options.clock.now())) {
      over = isTerminal(event);
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
  credentials: ChatOptions['credentials'],
): ExchangeRequest {
  const body = wire.encodeRequest(model === undefined ? request : { ...request, model });
  return {
    method: 'POST',
    origin: upstream.origin,
    path: upstream.basePath + wire.path,
    headers: createProviderHeaders(wire.name, access, credentials, request.stream),
    body: Buffer.from(JSON.stringify(body)),
  };
}
