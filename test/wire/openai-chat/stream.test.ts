import { describe, expect, it } from 'vitest';
import type { ChatEvent } from '../../../src/core/chat.ts';
import { openaiChat } from '../../../src/wire/openai-chat/openai-chat.ts';
import { createChatStreamEncoder } from '../../../src/wire/openai-chat/stream.ts';
import { readStream } from '../wire-contract.ts';

const chunk = (delta: object, finish: string | null = null, more: object = {}) =>
  `data: ${JSON.stringify({
    id: 'chatcmpl-BX1',
    object: 'chat.completion.chunk',
    created: 1747000000,
    model: 'gpt-4o-2024-08-06',
    service_tier: 'default',
    system_fingerprint: 'fp_07871e2ad8',
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    usage: null,
    ...more,
  })}\n\n`;
const usageChunk = (usage: object) => chunk({}, null, { choices: [], usage });
const DONE = 'data: [DONE]\n\n';
const START: ChatEvent = { type: 'reply-start', id: 'chatcmpl-BX1', model: 'gpt-4o-2024-08-06' };
const read = (...lines: string[]) => readStream(openaiChat, lines.join(''));

describe('a decoded chat completion stream', () => {
  it('reads text with multi-byte characters, null fields and the usage that follows the finish', () => {
    const events = read(
      chunk({ role: 'assistant', content: '', refusal: null }),
      ': keep-alive\n\n',
      chunk({ content: 'Grüße' }),
      chunk({ content: ' 👩‍🚀', tool_calls: null, function_call: null }),
      chunk({}, 'stop'),
      usageChunk({
        prompt_tokens: 19,
        completion_tokens: 10,
        total_tokens: 29,
        prompt_tokens_details: { cached_tokens: 16, cache_write_tokens: 2, audio_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 4, audio_tokens: 0, accepted_prediction_tokens: 0 },
      }),
      DONE,
    );
    expect(events).toEqual([
      START,
      { type: 'text-delta', text: 'Grüße' },
      { type: 'text-delta', text: ' 👩‍🚀' },
      {
        type: 'reply-end',
        stop: 'end',
        usage: {
          inputTokens: 19,
          outputTokens: 10,
          cacheReadTokens: 16,
          cacheWriteTokens: 2,
          reasoningTokens: 4,
        },
      },
    ]);
  });

  it('separates two interleaved calls whose arguments arrive in fifty pieces each', () => {
    const arguments0 = JSON.stringify({ path: 'a'.repeat(88) });
    const arguments1 = JSON.stringify({ path: 'é'.repeat(88) });
    const pieces = Array.from({ length: 50 }, (_, n) =>
      [arguments0, arguments1].map((text, index) =>
        chunk({ tool_calls: [{ index, function: { arguments: text.slice(n * 2, n * 2 + 2) } }] }),
      ),
    ).flat();
    const events = read(
      chunk({ role: 'assistant', content: null }),
      chunk({
        tool_calls: [{ index: 0, id: 'call_a', type: 'function', function: { name: 'read', arguments: '' } }],
      }),
      chunk({
        tool_calls: [{ index: 1, id: 'call_b', type: 'function', function: { name: 'read', arguments: '' } }],
      }),
      ...pieces,
      chunk({}, 'tool_calls'),
      DONE,
    );
    const argumentsOf = (id: string) =>
      events.map((event) => (event.type === 'tool-delta' && event.id === id ? event.json : '')).join('');
    expect(events.slice(0, 3)).toEqual([
      START,
      { type: 'tool-start', id: 'call_a', name: 'read' },
      { type: 'tool-start', id: 'call_b', name: 'read' },
    ]);
    expect([argumentsOf('call_a'), argumentsOf('call_b')]).toEqual([arguments0, arguments1]);
    expect(events.filter((event) => event.type === 'tool-delta')).toHaveLength(100);
    expect(events.at(-1)).toEqual({ type: 'reply-end', stop: 'tool-calls' });
  });

  it('gives a refusal as text', () => {
    expect(
      read(
        chunk({ role: 'assistant', content: '', refusal: '' }),
        chunk({ refusal: 'I can’t' }),
        chunk({ refusal: ' help.' }),
        chunk({}, 'stop'),
        DONE,
      ),
    ).toEqual([
      START,
      { type: 'text-delta', text: 'I can’t' },
      { type: 'text-delta', text: ' help.' },
      { type: 'reply-end', stop: 'end' },
    ]);
  });

  it('reads an empty reply as empty (not as truncated)', () => {
    expect(read(chunk({ role: 'assistant', content: '' }), chunk({}, 'stop'), DONE)).toEqual([
      START,
      { type: 'reply-end', stop: 'end' },
    ]);
  });

  it.each([
    ['length', 'length'],
    ['content_filter', 'filter'],
    ['function_call', 'end'],
    ['tool_calls', 'end'],
    ['a_reason_of_tomorrow', 'end'],
  ])('reads finish_reason %s without calls as %s', (reason, stop) => {
    expect(read(chunk({ content: 'x' }), chunk({}, reason), DONE).at(-1)).toEqual({
      type: 'reply-end',
      stop,
    });
  });

  it('stops for length (not for tool calls) when a reply with calls is truncated', () => {
    const call = { index: 0, id: 'c', function: { name: 'f', arguments: '{"a":' } };
    const events = read(chunk({ tool_calls: [call] }), chunk({}, 'length'), DONE);
    expect(events.at(-1)).toEqual({ type: 'reply-end', stop: 'length' });
  });

  it('ends once, at the end of the stream, when no [DONE] follows the finish reason', () => {
    expect(read(chunk({ content: 'hi' }), chunk({}, 'stop'))).toEqual([
      START,
      { type: 'text-delta', text: 'hi' },
      { type: 'reply-end', stop: 'end' },
    ]);
    expect(read(chunk({}, 'stop'), DONE, chunk({ content: 'late' }), DONE)).toHaveLength(2);
  });

  it.each([
    ['the end of the stream', ''],
    ['[DONE]', DONE],
  ])('calls a reply without a finish_reason truncated (not complete) at %s', (_, tail) => {
    expect(read(chunk({ content: 'hi' }), tail).at(-1)).toMatchObject({
      type: 'failure',
      failure: { kind: 'truncated', status: 502 },
    });
    expect(read(tail)).toMatchObject([{ type: 'failure', failure: { kind: 'truncated' } }]);
  });

  it('ends at an error inside the stream, with the provider’s wording', () => {
    const error = {
      message: 'The server had an error processing your request. Sorry about that!',
      type: 'server_error',
      param: null,
      code: null,
    };
    const events = read(chunk({ content: 'hi' }), `data: ${JSON.stringify({ error })}\n\n`, DONE);
    expect(events.slice(2)).toEqual([
      { type: 'failure', failure: { kind: 'upstream-error', status: 502, message: error.message } },
    ]);
  });
});

describe('an encoded chat completion stream', () => {
  const write = (events: readonly ChatEvent[]) => {
    const encoder = createChatStreamEncoder(undefined, () => 1_747_000_000_999);
    return events.map((event) => encoder.encode(event)).join('');
  };
  const HEAD = '"id":"r1","object":"chat.completion.chunk","created":1747000000,"model":"m"';
  const line = (delta: string, finish = 'null') =>
    `data: {${HEAD},"choices":[{"index":0,"delta":${delta},"finish_reason":${finish}}]}\n\n`;

  it.each([
    [{}, false],
    [{ stream_options: null }, false],
    [{ stream_options: { include_usage: true } }, true],
  ])('for the request %j contains a usage chunk: %s', (request, isSent) => {
    const encoder = createChatStreamEncoder(request);
    const usage = { inputTokens: 1, outputTokens: 1 };
    encoder.encode({ type: 'reply-start', id: 'r1', model: 'm' });
    expect(encoder.encode({ type: 'reply-end', stop: 'end', usage }).includes('"usage"')).toBe(isSent);
  });

  it('writes exactly what OpenAI streams: role, deltas, calls by index, finish, usage, [DONE]', () => {
    expect(
      write([
        { type: 'reply-start', id: 'r1', model: 'm' },
        { type: 'reasoning-delta', text: 'h' },
        { type: 'reasoning-delta', text: 'm' },
        { type: 'reasoning-signature', signature: 'sig' },
        { type: 'text-delta', text: 'ü\n' },
        { type: 'tool-start', id: 'a', name: 'f' },
        { type: 'tool-start', id: 'b', name: 'g' },
        { type: 'tool-delta', id: 'a', json: '{"x":1}' },
        {
          type: 'reply-end',
          stop: 'tool-calls',
          usage: { inputTokens: 9, outputTokens: 3, cacheReadTokens: 4, reasoningTokens: 2 },
        },
      ]),
    ).toBe(
      [
        line('{"role":"assistant","content":""}'),
        line('{"reasoning_content":"h"}'),
        line('{"reasoning_content":"m"}'),
        line('{"reasoning_details":[{"type":"reasoning.text","text":"hm","signature":"sig","index":0}]}'),
        line('{"content":"ü\\n"}'),
        line(
          '{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}}]}',
        ),
        line(
          '{"tool_calls":[{"index":1,"id":"b","type":"function","function":{"name":"g","arguments":""}}]}',
        ),
        line('{"tool_calls":[{"index":0,"function":{"arguments":"{\\"x\\":1}"}}]}'),
        line('{"tool_calls":[{"index":1,"function":{"arguments":"{}"}}]}'),
        line('{}', '"tool_calls"'),
        `data: {${HEAD},"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12,` +
          '"prompt_tokens_details":{"cached_tokens":4,"cache_write_tokens":0},' +
          '"completion_tokens_details":{"reasoning_tokens":2}}}\n\n',
        DONE,
      ].join(''),
    );
  });

  it('signs each part of the reasoning separately, and is decoded into the same parts', () => {
    const events: readonly ChatEvent[] = [
      { type: 'reply-start', id: 'r1', model: 'm' },
      { type: 'reasoning-delta', text: 'a' },
      { type: 'reasoning-signature', signature: 's1' },
      { type: 'text-delta', text: 'so' },
      { type: 'reasoning-delta', text: 'b' },
      { type: 'reasoning-signature', signature: 's2' },
      { type: 'reply-end', stop: 'end' },
    ];
    expect(write(events)).toContain('[{"type":"reasoning.text","text":"b","signature":"s2","index":1}]');
    expect(readStream(openaiChat, write(events))).toEqual(events);
  });

  it('has no usage without counts, and no [DONE] after an error', () => {
    const start: ChatEvent = { type: 'reply-start', id: 'r1', model: 'm' };
    const role = line('{"role":"assistant","content":""}');
    expect(write([start, { type: 'reply-end', stop: 'stop-sequence' }])).toBe(
      `${role}${line('{}', '"stop"')}${DONE}`,
    );
    const failure = { kind: 'overloaded', status: 529, message: 'Overloaded' } as const;
    expect(write([start, { type: 'failure', failure }])).toBe(
      `${role}data: {"error":{"message":"Overloaded","type":"service_unavailable_error","param":null,` +
        '"code":"server_is_overloaded"}}\n\n',
    );
  });
});
