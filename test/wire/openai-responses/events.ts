import type { ChatEvent } from '../../../src/core/chat.ts';
import { asArray, asObject, type JsonObject } from '../../../src/core/json.ts';
import { openaiResponses } from '../../../src/wire/openai-responses/openai-responses.ts';
import { createSseDecoder } from '../../../src/wire/sse.ts';
import { readStream } from '../wire-contract.ts';

/** Events as the provider streams them: named, numbered, in order. */
export const streamOf = (events: readonly JsonObject[]): string =>
  events
    .map((event, sequence_number) => {
      const data = JSON.stringify({ ...event, sequence_number });
      return `event: ${String(event.type)}\ndata: ${data}\n\n`;
    })
    .join('');

export const decodeEvents = (events: readonly JsonObject[]): ChatEvent[] =>
  readStream(openaiResponses, streamOf(events));

/** What a client sees of an encoded stream. */
export const parseEvents = (text: string): JsonObject[] =>
  createSseDecoder()
    .push(new TextEncoder().encode(text))
    .map(({ data }) => JSON.parse(data) as JsonObject);

export const created = (id = 'resp_1', model = 'gpt-5.5'): JsonObject => ({
  type: 'response.created',
  response: { id, object: 'response', created_at: 1, status: 'in_progress', model, output: [], usage: null },
});

export const completed = (more: JsonObject = {}): JsonObject => ({
  type: 'response.completed',
  response: { id: 'resp_1', object: 'response', status: 'completed', model: 'gpt-5.5', output: [], ...more },
});

export const textDelta = (
  delta: string,
  place: JsonObject = { output_index: 0, content_index: 0 },
): JsonObject => ({
  type: 'response.output_text.delta',
  item_id: 'msg_1',
  ...place,
  delta,
  logprobs: [],
});

export const start = { type: 'reply-start', id: 'resp_1', model: 'gpt-5.5' } as const;

/** The items of the complete reply in the last event. */
export const outputOf = (events: readonly JsonObject[]): JsonObject[] =>
  asArray(asObject(events.at(-1)?.response).output).map(asObject);

export const message = (text: string): JsonObject => ({
  id: 'msg_1',
  type: 'message',
  status: 'completed',
  role: 'assistant',
  content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
});
export const call = (n: number, args: string): JsonObject => ({
  id: `fc_${n}`,
  type: 'function_call',
  status: 'completed',
  arguments: args,
  call_id: `call_${n}`,
  name: 'run',
});
export const added = (output_index: number, item: JsonObject): JsonObject => ({
  type: 'response.output_item.added',
  output_index,
  item,
});
export const done = (output_index: number, item: JsonObject): JsonObject => ({
  type: 'response.output_item.done',
  output_index,
  item,
});
