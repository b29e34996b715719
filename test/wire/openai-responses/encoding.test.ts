import { describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../../src/core/chat.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import {
  createResponsesStreamEncoder,
  encodeResponsesReply,
} from '../../../src/wire/openai-responses/openai-responses.ts';
import { outputOf, parseEvents } from './events.ts';

const now = () => 1_700_000_000_999;

function encode(events: readonly ChatEvent[]): JsonObject[] {
  const encoder = createResponsesStreamEncoder(now);
  return parseEvents(events.map((event) => encoder.encode(event)).join(''));
}

const begin: ChatEvent = { type: 'reply-start', id: 'r1', model: 'm' };
const end: ChatEvent = { type: 'reply-end', stop: 'end' };

const RESPONSE = {
  id: 'r1',
  object: 'response',
  created_at: 1_700_000_000,
  status: 'in_progress',
  background: false,
  error: null,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  model: 'm',
  output: [],
  parallel_tool_calls: true,
  previous_response_id: null,
  prompt_cache_key: null,
  reasoning: { effort: null, summary: null },
  safety_identifier: null,
  service_tier: 'default',
  store: false,
  temperature: null,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_logprobs: 0,
  top_p: null,
  truncation: 'disabled',
  usage: null,
  user: null,
  metadata: {},
};

const USAGE = {
  input_tokens: 10,
  input_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 },
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 15,
};

describe('an encoded Responses stream', () => {
  it('has every event that clients expect, numbered, with the complete reply in the last', () => {
    const part = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] });
    const message = (status: string, ...content: JsonObject[]) => ({
      id: 'msg_r1_1',
      type: 'message',
      status,
      role: 'assistant',
      content,
    });
    const reasoning = (encrypted_content: string | null, ...summary: JsonObject[]) => ({
      id: 'rs_r1_0',
      type: 'reasoning',
      summary,
      encrypted_content,
    });
    const call = (status: string, args: string) => ({
      id: 'fc_r1_2',
      type: 'function_call',
      status,
      arguments: args,
      call_id: 'c1',
      name: 'f',
    });
    const hm = { type: 'summary_text', text: 'hm' };
    const thinking = { item_id: 'rs_r1_0', output_index: 0, summary_index: 0 };
    const speaking = { item_id: 'msg_r1_1', output_index: 1, content_index: 0 };
    const calling = { item_id: 'fc_r1_2', output_index: 2 };
    const output = [reasoning('sig', hm), message('completed', part('hi!')), call('completed', '{"a":1}')];
    const expected = [
      { type: 'response.created', response: RESPONSE },
      { type: 'response.in_progress', response: RESPONSE },
      { type: 'response.output_item.added', output_index: 0, item: reasoning(null) },
      {
        type: 'response.reasoning_summary_part.added',
        ...thinking,
        part: { type: 'summary_text', text: '' },
      },
      { type: 'response.reasoning_summary_text.delta', ...thinking, delta: 'hm' },
      { type: 'response.reasoning_summary_text.done', ...thinking, text: 'hm' },
      { type: 'response.reasoning_summary_part.done', ...thinking, part: hm },
      { type: 'response.output_item.done', output_index: 0, item: output[0] },
      { type: 'response.output_item.added', output_index: 1, item: message('in_progress') },
      { type: 'response.content_part.added', ...speaking, part: part('') },
      { type: 'response.output_text.delta', ...speaking, delta: 'hi', logprobs: [] },
      { type: 'response.output_text.delta', ...speaking, delta: '!', logprobs: [] },
      { type: 'response.output_text.done', ...speaking, text: 'hi!', logprobs: [] },
      { type: 'response.content_part.done', ...speaking, part: part('hi!') },
      { type: 'response.output_item.done', output_index: 1, item: output[1] },
      { type: 'response.output_item.added', output_index: 2, item: call('in_progress', '') },
      { type: 'response.function_call_arguments.delta', ...calling, delta: '{"a"' },
      { type: 'response.function_call_arguments.delta', ...calling, delta: ':1}' },
      { type: 'response.function_call_arguments.done', ...calling, arguments: '{"a":1}', name: 'f' },
      { type: 'response.output_item.done', output_index: 2, item: output[2] },
      { type: 'response.completed', response: { ...RESPONSE, status: 'completed', output, usage: USAGE } },
    ];
    const events: ChatEvent[] = [
      begin,
      { type: 'reasoning-delta', text: 'hm' },
      { type: 'reasoning-signature', signature: 'sig' },
      { type: 'text-delta', text: 'hi' },
      { type: 'text-delta', text: '!' },
      { type: 'tool-start', id: 'c1', name: 'f' },
      { type: 'tool-delta', id: 'c1', json: '{"a"' },
      { type: 'tool-delta', id: 'c1', json: ':1}' },
      {
        type: 'reply-end',
        stop: 'tool-calls',
        usage: { inputTokens: 10, outputTokens: 5, cacheReadTokens: 4 },
      },
    ];
    expect(encode(events)).toEqual(expected.map((event, sequence_number) => ({ ...event, sequence_number })));
    expect(encodeResponsesReply(events, now)).toEqual({
      ...RESPONSE,
      status: 'completed',
      output,
      usage: USAGE,
    });
  });

  it('names each event in its SSE frame as in its data', () => {
    const text = [begin, { type: 'text-delta', text: 'a\nb' } as const, end].map((event) =>
      createResponsesStreamEncoder(now).encode(event),
    );
    for (const [, name, data] of text.join('').matchAll(/event: (.*)\ndata: (.*)\n\n/g)) {
      expect(JSON.parse(data ?? '')).toMatchObject({ type: name });
    }
  });

  it('supports an empty reply, and has no events for empty deltas', () => {
    const events = encode([
      begin,
      { type: 'text-delta', text: '' },
      { type: 'reasoning-delta', text: '' },
      end,
    ]);
    expect(events.map((event) => event.type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.completed',
    ]);
  });

  it.each([
    ['length', 'max_output_tokens'],
    ['filter', 'content_filter'],
  ] as const)('ends a reply cut by %s as incomplete (not completed)', (stop, reason) => {
    const last = encode([begin, { type: 'text-delta', text: 'a' }, { type: 'reply-end', stop }]).at(-1);
    expect(last).toMatchObject({
      type: 'response.incomplete',
      response: { status: 'incomplete', incomplete_details: { reason }, output: [{ status: 'incomplete' }] },
    });
  });

  it('keeps a signature without text, for the client to send back', () => {
    const events = encode([begin, { type: 'reasoning-signature', signature: 'sig' }, end]);
    expect(events.slice(2, -1)).toMatchObject([
      {
        type: 'response.output_item.added',
        item: { type: 'reasoning', summary: [], encrypted_content: null },
      },
      {
        type: 'response.output_item.done',
        item: { type: 'reasoning', summary: [], encrypted_content: 'sig' },
      },
    ]);
  });

  it('has an empty object (not an empty string) as arguments of a call without any', () => {
    const events = encode([begin, { type: 'tool-start', id: 'c1', name: 'f' }, end]);
    expect(events.at(-2)).toMatchObject({ item: { type: 'function_call', call_id: 'c1', arguments: '{}' } });
  });

  it('completes a call as soon as the next begins, and keeps an unfinished one open', () => {
    const events = encode([
      begin,
      { type: 'tool-start', id: 'a', name: 'f' },
      { type: 'tool-delta', id: 'a', json: '{"x":1}' },
      { type: 'tool-start', id: 'b', name: 'g' },
      { type: 'tool-delta', id: 'b', json: '{"y"' },
      { type: 'tool-start', id: 'c', name: 'h' },
      { type: 'tool-delta', id: 'c', json: '{}' },
      { type: 'tool-delta', id: 'b', json: ':2}' },
      { type: 'reply-end', stop: 'tool-calls' },
    ]);
    const order = events.flatMap(({ type, item }) =>
      type === 'response.output_item.added' || type === 'response.output_item.done'
        ? `${type.slice('response.output_item.'.length)} ${String((item as JsonObject).call_id)}`
        : [],
    );
    expect(order).toEqual(['added a', 'done a', 'added b', 'added c', 'done b', 'done c']);
    expect(outputOf(events).map((item) => item.arguments)).toEqual(['{"x":1}', '{"y":2}', '{}']);
  });

  it('has a unique item id of at most 64 characters, different from the call id', () => {
    const id = `chatcmpl-${'x'.repeat(80)}`;
    const events = encode([
      { type: 'reply-start', id, model: 'm' },
      { type: 'text-delta', text: 'a' },
      { type: 'reasoning-delta', text: 'b' },
      { type: 'text-delta', text: 'c' },
      { type: 'tool-start', id: 'call_1', name: 'f' },
      end,
    ]);
    const ids = outputOf(events).map((item) => String(item.id));
    expect(new Set(ids).size).toBe(4);
    expect(ids.every((itemId) => itemId.length <= 64 && itemId !== 'call_1')).toBe(true);
  });
});
