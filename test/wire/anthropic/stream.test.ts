import { describe, expect, it } from 'vitest';
import { anthropic } from '../../../src/wire/anthropic/anthropic.ts';
import { readStream, writeStream } from '../wire-contract.ts';
import { close, delta, ending, json, message, open, sse, started, stop, text, zeros } from './events.ts';

describe('a decoded Anthropic stream', () => {
  it('counts cached input as input, keeps multi-byte text and skips pings', () => {
    const events = readStream(
      anthropic,
      sse(
        message({
          input_tokens: 25,
          cache_creation_input_tokens: 7,
          cache_read_input_tokens: 100,
          output_tokens: 1,
        }),
        open(0, { type: 'text', text: '' }),
        { type: 'ping' },
        delta(0, text('Grüße, ')),
        delta(0, text('世界 👋🏽')),
        close(0),
        ending('end_turn', { output_tokens: 15 }),
        stop,
      ),
    );
    expect(events).toEqual([
      started,
      { type: 'text-delta', text: 'Grüße, ' },
      { type: 'text-delta', text: '世界 👋🏽' },
      {
        type: 'reply-end',
        stop: 'end',
        usage: { inputTokens: 132, outputTokens: 15, cacheReadTokens: 100, cacheWriteTokens: 7 },
      },
    ]);
  });

  it('separates parallel calls whose arguments arrive in fifty pieces', () => {
    const args = [0, 1].map((n) => JSON.stringify({ path: `/tmp/${n}`, text: 'é'.repeat(60) }));
    const pieces = args.map((whole) =>
      Array.from({ length: 50 }, (_, n) =>
        whole.slice(Math.floor((n * whole.length) / 50), Math.floor(((n + 1) * whole.length) / 50)),
      ),
    );
    const calls = pieces.flatMap((list, n) => [
      open(n, { type: 'tool_use', id: `toolu_${n}`, name: 'write', input: {} }),
      delta(n, json('')),
      ...list.map((piece) => delta(n, json(piece))),
      close(n),
    ]);
    const events = readStream(
      anthropic,
      sse(message(zeros), ...calls, ending('tool_use', { output_tokens: 9 }), stop),
    );
    expect(events.filter(({ type }) => type === 'tool-delta')).toHaveLength(100);
    for (const n of [0, 1]) {
      const own = events.flatMap((event) =>
        event.type === 'tool-delta' && event.id === `toolu_${n}` ? event.json : [],
      );
      expect(own.join('')).toBe(args[n]);
    }
    expect(events.at(-1)).toMatchObject({ type: 'reply-end', stop: 'tool-calls' });
  });

  it('gives a call without deltas its input, or {} (not empty text)', () => {
    const events = readStream(
      anthropic,
      sse(
        message(zeros),
        open(0, { type: 'tool_use', id: 'toolu_a', name: 'now', input: {} }),
        close(0),
        open(1, { type: 'tool_use', id: 'toolu_b', name: 'read', input: { path: 'x' } }),
        ending('tool_use', zeros),
        stop,
      ),
    );
    expect(events.slice(1, -1)).toEqual([
      { type: 'tool-start', id: 'toolu_a', name: 'now' },
      { type: 'tool-delta', id: 'toolu_a', json: '{}' },
      { type: 'tool-start', id: 'toolu_b', name: 'read' },
      { type: 'tool-delta', id: 'toolu_b', json: '{"path":"x"}' },
    ]);
  });

  it('distinguishes redacted thinking from thinking without text', () => {
    const events = readStream(
      anthropic,
      sse(
        message(zeros),
        open(0, { type: 'thinking', thinking: '', signature: '' }),
        delta(0, { type: 'thinking_delta', thinking: 'Let me see' }),
        delta(0, { type: 'signature_delta', signature: 'EqQB' }),
        close(0),
        open(1, { type: 'redacted_thinking', data: 'EmwK' }),
        close(1),
        open(2, { type: 'thinking', thinking: '', signature: '' }),
        delta(2, { type: 'signature_delta', signature: 'ErUB' }),
        close(2),
        ending('end_turn', { output_tokens: 40, output_tokens_details: { thinking_tokens: 30 } }),
        stop,
      ),
    );
    expect(events.slice(1)).toEqual([
      { type: 'reasoning-delta', text: 'Let me see' },
      { type: 'reasoning-signature', signature: 'EqQB' },
      { type: 'reasoning-signature', signature: 'redacted_thinking:EmwK' },
      { type: 'reasoning-signature', signature: 'ErUB' },
      {
        type: 'reply-end',
        stop: 'end',
        usage: { inputTokens: 0, outputTokens: 40, reasoningTokens: 30 },
      },
    ]);
    const written = writeStream(anthropic, events);
    expect(written).toContain('{"type":"redacted_thinking","data":"EmwK"}');
    expect(readStream(anthropic, written)).toEqual(events);
  });

  it.each([
    ['end_turn', 'end'],
    ['max_tokens', 'length'],
    ['stop_sequence', 'stop-sequence'],
    ['pause_turn', 'end'],
    ['refusal', 'filter'],
    ['model_context_window_exceeded', 'length'],
    ['some_future_reason', 'end'],
    [null, 'end'],
  ])('reads the stop reason %s as %s, even of an empty reply', (reason, expected) => {
    const events = readStream(anthropic, sse(message(zeros), ending(reason, zeros), stop));
    expect(events).toEqual([
      started,
      { type: 'reply-end', stop: expected, usage: { inputTokens: 0, outputTokens: 0 } },
    ]);
  });

  it('leaves out server-side tool calls, and keeps the text around them', () => {
    const events = readStream(
      anthropic,
      sse(
        message(zeros),
        open(0, { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }),
        delta(0, json('{"query":"x"}')),
        close(0),
        open(1, { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] }),
        close(1),
        open(2, { type: 'text', text: '' }),
        delta(2, text('Found.')),
        delta(2, { type: 'citations_delta', citation: { cited_text: 'x' } }),
        close(2),
        ending('end_turn', zeros),
        stop,
      ),
    );
    expect(events.slice(1, -1)).toEqual([{ type: 'text-delta', text: 'Found.' }]);
  });

  it('accepts vendors that send no event names, null fields, and no message_stop', () => {
    const lines = [
      { ...message({ input_tokens: 12, output_tokens: null, cache_read_input_tokens: null }) },
      open(0, { type: 'text', text: 'Hi', citations: null }),
      delta(0, text('!')),
      close(0),
      ending('end_turn', { input_tokens: 0, output_tokens: 3 }),
    ];
    const stream = lines.map((line) => `data: ${JSON.stringify(line)}\n\n`).join('');
    expect(readStream(anthropic, stream)).toEqual([
      started,
      { type: 'text-delta', text: 'Hi' },
      { type: 'text-delta', text: '!' },
      { type: 'reply-end', stop: 'end', usage: { inputTokens: 12, outputTokens: 3 } },
    ]);
  });

  it('gives calls that share an id ids of their own', () => {
    const call = { type: 'tool_use', id: 'call_0', name: 'ls', input: {} };
    const events = readStream(
      anthropic,
      sse(message(zeros), open(0, call), close(0), open(1, { ...call, id: null }), open(2, call), stop),
    );
    expect(events.flatMap((event) => (event.type === 'tool-start' ? event.id : []))).toEqual([
      'call_0',
      'toolu_1',
      'call_0_2',
    ]);
    expect(events.at(-1)).toEqual({
      type: 'reply-end',
      stop: 'tool-calls',
      usage: { inputTokens: 0, outputTokens: 0 },
    });
  });

  it.each([
    [
      { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' }, request_id: 'req_1' },
      { kind: 'overloaded', status: 529, message: 'Overloaded', code: 'overloaded_error' },
    ],
    [
      { type: 'error', error: { type: 'api_error', message: 'Internal server error' } },
      { kind: 'upstream-error', status: 500, message: 'Internal server error', code: 'api_error' },
    ],
    [{ type: 'error' }, { kind: 'upstream-error', status: 500 }],
  ])('ends with the provider’s own error %#', (event, failure) => {
    const events = readStream(anthropic, sse(message(zeros), event, open(0, { type: 'text', text: 'late' })));
    expect(events).toHaveLength(2);
    expect(events[1]).toMatchObject({ type: 'failure', failure });
  });

  it('reads an error that is plain text', () => {
    expect(readStream(anthropic, 'event: error\ndata: upstream <b>gone</b>\n\n')).toMatchObject([
      { type: 'failure', failure: { message: 'upstream gone' } },
    ]);
  });
});
