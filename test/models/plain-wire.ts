import type { ChatEvent, ChatRequest } from '../../src/core/chat.ts';
import { createFailure, failureKindOf } from '../../src/core/failure.ts';
import { asArray, asObject, asString, type Json, type JsonObject, parseJson } from '../../src/core/json.ts';
import type { StreamDecoder, Wire, WireName } from '../../src/core/wire.ts';

const asEvent = (value: Json) => asObject(value) as unknown as ChatEvent;

/** The simplest wire: ChatEvents as JSON. Model behaviour that is the same for all wires is tested with it. */
export const createPlainWire = (name: WireName = 'openai-chat'): Wire => ({
  name,
  path: '/talk',
  outline: () => undefined,
  decodeRequest: (body) => body as unknown as ChatRequest,
  encodeRequest: (request) => ({ ...request }) as unknown as JsonObject,
  decodeReply: (body) => asArray(body.events).map(asEvent),
  encodeReply: (events) => ({ events: [...events] as unknown as Json }),
  createStreamDecoder: createPlainStreamDecoder,
  createStreamEncoder: () => ({ encode: (event) => `data: ${JSON.stringify(event)}\n\n` }),
  decodeFailure: (status, body) => {
    const message = asString(asObject(parseJson(body)).error) ?? `HTTP ${status} (${body.length} characters)`;
    return createFailure(failureKindOf(status), message, { status });
  },
  encodeFailure: (failure) => ({ error: failure.message }),
  encodeStreamFailure: (failure) => `data: ${JSON.stringify({ type: 'failure', failure })}\n\n`,
});

function createPlainStreamDecoder(): StreamDecoder {
  let over = false;
  return {
    decode: ({ data }) => {
      const event = asEvent(parseJson(data) ?? {});
      over ||= event.type === 'reply-end' || event.type === 'failure';
      return [event];
    },
    end: () => (over ? [] : [{ type: 'failure', failure: createFailure('truncated', 'no last event') }]),
  };
}

export const plainWires: Readonly<Record<WireName, Wire>> = {
  'openai-chat': createPlainWire('openai-chat'),
  'openai-responses': createPlainWire('openai-responses'),
  anthropic: createPlainWire('anthropic'),
};
