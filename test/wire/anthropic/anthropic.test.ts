import { describe, expect, it } from 'vitest';
import { createFailure } from '../../../src/core/failure.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import { WireError } from '../../../src/core/wire.ts';
import { anthropic } from '../../../src/wire/anthropic/anthropic.ts';
import { describeWire, writeStream } from '../wire-contract.ts';
import { close, delta, ending, json, message, open, sse, started, stop, text, zeros } from './events.ts';

/**
 * effort: thinking with a budget drops temperature, raises the limit, and is off for a history without signatures.
 * format: the schema has neither a name nor a strictness beside it.
 */
describeWire(anthropic, new Set(['effort', 'format']));

describe('an encoded Anthropic stream', () => {
  it('opens and closes a block for each kind, with the counts in the last delta', () => {
    const written = writeStream(anthropic, [
      started,
      { type: 'reasoning-delta', text: 'Hm' },
      { type: 'text-delta', text: 'I look' },
      { type: 'text-delta', text: '.' },
      { type: 'tool-start', id: 'call_1', name: 'ls' },
      { type: 'tool-delta', id: 'call_1', json: '' },
      { type: 'tool-delta', id: 'call_1', json: '{"a":1}' },
      { type: 'tool-start', id: 'call_2', name: 'pwd' },
      {
        type: 'reply-end',
        stop: 'end',
        usage: {
          inputTokens: 30,
          outputTokens: 4,
          cacheReadTokens: 20,
          cacheWriteTokens: 5,
          reasoningTokens: 2,
        },
      },
    ]);
    const usage = {
      input_tokens: 5,
      cache_creation_input_tokens: 5,
      cache_read_input_tokens: 20,
      output_tokens: 4,
      output_tokens_details: { thinking_tokens: 2 },
    };
    expect(written).toBe(
      sse(
        message(zeros),
        open(0, { type: 'thinking', thinking: '', signature: '' }),
        delta(0, { type: 'thinking_delta', thinking: 'Hm' }),
        close(0),
        open(1, { type: 'text', text: '' }),
        delta(1, text('I look')),
        delta(1, text('.')),
        close(1),
        open(2, { type: 'tool_use', id: 'call_1', name: 'ls', input: {} }),
        delta(2, json('{"a":1}')),
        close(2),
        open(3, { type: 'tool_use', id: 'call_2', name: 'pwd', input: {} }),
        close(3),
        ending('tool_use', usage),
        stop,
      ),
    );
  });

  it('ends with an error when arguments arrive for a call whose block is closed', () => {
    const written = writeStream(anthropic, [
      started,
      { type: 'tool-start', id: 'a', name: 'ls' },
      { type: 'tool-start', id: 'b', name: 'ls' },
      { type: 'tool-delta', id: 'a', json: '{}' },
      { type: 'tool-delta', id: 'b', json: '{}' },
      { type: 'reply-end', stop: 'tool-calls' },
    ]);
    expect(written.endsWith('}\n\n')).toBe(true);
    expect(written.split('event: ').at(-1)).toMatch(
      /^error\ndata: \{"type":"error","error":\{"type":"api_error"/,
    );
    expect(written).not.toContain('message_stop');
  });

  it('writes an error as Anthropic does', () => {
    expect(anthropic.encodeStreamFailure(createFailure('overloaded', 'Busy'))).toBe(
      sse({ type: 'error', error: { type: 'overloaded_error', message: 'Busy' } }),
    );
  });
});

/** Undefined where this Node cannot: Node 26 writes any depth. */
function writeDeep(deep: JsonObject): string | undefined {
  try {
    return JSON.stringify(deep);
  } catch {
    return undefined;
  }
}

describe('the Anthropic wire with oversized input', () => {
  const deep = JSON.parse(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`) as JsonObject;
  const call = { type: 'tool_use', id: 'a', name: 'ls', input: deep };
  const decode = (role: string, content: readonly JsonObject[]) =>
    anthropic.decodeRequest({ model: 'm', messages: [{ role, content }] });

  it('refuses an input nested deeper than Node can write with a WireError (not a RangeError)', () => {
    const written = writeDeep(deep);
    if (written === undefined) expect(() => decode('assistant', [call])).toThrow(WireError);
    else expect(() => decode('assistant', [call])).not.toThrow();
    expect(anthropic.decodeReply({ content: [call] })[2]).toEqual({
      type: 'tool-delta',
      id: 'a',
      json: written ?? '{}',
    });
  });

  it('refuses a document inside a document', () => {
    const inner = { type: 'document', source: { type: 'content', content: [] } };
    const outer = { type: 'document', source: { type: 'content', content: [inner] } };
    expect(() => decode('user', [outer])).toThrow('messages[0].content[0].source.content[0].type: ');
  });

  it('decodes and encodes a message of very many blocks', () => {
    const content = Array.from({ length: 200_000 }, () => ({ type: 'text', text: 'x' }));
    const document = { type: 'document', source: { type: 'content', content } };
    const request = decode('user', [document]);
    expect(request.messages[0]?.content).toHaveLength(200_000);
    const [turn] = anthropic.encodeRequest(request).messages as readonly JsonObject[];
    expect(turn?.content).toHaveLength(200_000);
  });
});
