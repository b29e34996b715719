import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { joined } from '../arbitraries.ts';
import { added, call, completed, created, decodeEvents, done, message, start, textDelta } from './events.ts';

describe('a decoded Responses stream', () => {
  it('has each text once, as it arrives, and the usage', () => {
    const usage = {
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 64, cache_write_tokens: 0 },
      output_tokens: 20,
      output_tokens_details: { reasoning_tokens: 7 },
      total_tokens: 120,
    };
    const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
    expect(
      decodeEvents([
        created(),
        { type: 'response.in_progress', response: { id: 'resp_1' } },
        added(0, { ...message(''), content: [] }),
        {
          type: 'response.content_part.added',
          ...place,
          part: { type: 'output_text', text: '', annotations: [] },
        },
        { ...textDelta('Grüß '), obfuscation: 'x8Qz' },
        { type: 'keepalive' },
        textDelta('dich 👋🏽'),
        { type: 'response.output_text.done', ...place, text: 'Grüß dich 👋🏽', logprobs: [] },
        {
          type: 'response.content_part.done',
          ...place,
          part: { type: 'output_text', text: 'Grüß dich 👋🏽' },
        },
        done(0, message('Grüß dich 👋🏽')),
        completed({ output: [message('Grüß dich 👋🏽')], usage }),
      ]),
    ).toEqual([
      start,
      { type: 'text-delta', text: 'Grüß ' },
      { type: 'text-delta', text: 'dich 👋🏽' },
      {
        type: 'reply-end',
        stop: 'end',
        usage: { inputTokens: 100, outputTokens: 20, cacheReadTokens: 64, reasoningTokens: 7 },
      },
    ]);
  });

  it('separates parallel calls whose arguments arrive interleaved in fifty pieces each', () => {
    const args = [0, 1].map((n) => JSON.stringify({ n, text: 'é"\\\n'.repeat(40) }));
    const deltas: JsonObject[] = [];
    for (let piece = 0; piece < 50; piece++) {
      for (const n of [0, 1]) {
        const whole = args[n] ?? '';
        const [from, to] = [piece, piece + 1].map((at) => Math.floor((whole.length * at) / 50));
        const delta = whole.slice(from, to);
        deltas.push({
          type: 'response.function_call_arguments.delta',
          item_id: `fc_${n}`,
          output_index: n,
          delta,
        });
      }
    }
    const events = decodeEvents([
      created(),
      ...[0, 1].map((n) => added(n, { ...call(n, ''), status: 'in_progress' })),
      ...deltas,
      ...[0, 1].flatMap((n) => [
        {
          type: 'response.function_call_arguments.done',
          item_id: `fc_${n}`,
          output_index: n,
          arguments: args[n],
        },
        done(n, call(n, args[n] ?? '')),
      ]),
      completed({ output: [0, 1].map((n) => call(n, args[n] ?? '')) }),
    ]);
    expect(events.filter((event) => event.type === 'tool-start')).toEqual([
      { type: 'tool-start', id: 'call_0', name: 'run' },
      { type: 'tool-start', id: 'call_1', name: 'run' },
    ]);
    for (const n of [0, 1]) {
      const pieces = events.flatMap((event) =>
        event.type === 'tool-delta' && event.id === `call_${n}` ? event.json : [],
      );
      expect(pieces.length).toBe(50);
      expect(pieces.join('')).toBe(args[n]);
    }
    expect(events.at(-1)).toEqual({ type: 'reply-end', stop: 'tool-calls' });
  });

  it('has a summary’s parts with a blank line between them, then the signature', () => {
    const summary = (summary_index: number, delta: string): JsonObject => ({
      type: 'response.reasoning_summary_text.delta',
      item_id: 'rs_1',
      output_index: 0,
      summary_index,
      delta,
    });
    const item = {
      id: 'rs_1',
      type: 'reasoning',
      summary: ['**A** b', 'c'].map((text) => ({ type: 'summary_text', text })),
      encrypted_content: 'gAAAA',
    };
    const events = decodeEvents([
      created(),
      added(0, { ...item, summary: [], encrypted_content: 'early' }),
      summary(0, '**A**'),
      summary(0, ' b'),
      {
        type: 'response.reasoning_summary_text.done',
        item_id: 'rs_1',
        output_index: 0,
        summary_index: 0,
        text: '**A** b',
      },
      summary(1, 'c'),
      done(0, item),
      textDelta('hi', { output_index: 1, content_index: 0 }),
      completed({ output: [item, message('hi')] }),
    ]);
    expect(joined(events)).toEqual([
      start,
      { type: 'reasoning-delta', text: '**A** b\n\nc' },
      { type: 'reasoning-signature', signature: 'gAAAA' },
      { type: 'text-delta', text: 'hi' },
      { type: 'reply-end', stop: 'end' },
    ]);
  });

  it('has the reasoning once when the provider also streams its summary', () => {
    const events = decodeEvents([
      created(),
      {
        type: 'response.reasoning_text.delta',
        item_id: 'rs_1',
        output_index: 0,
        content_index: 0,
        delta: 'raw',
      },
      {
        type: 'response.reasoning_summary_text.delta',
        item_id: 'rs_1',
        output_index: 0,
        summary_index: 0,
        delta: 'sum',
      },
      completed(),
    ]);
    expect(events.slice(1, -1)).toEqual([{ type: 'reasoning-delta', text: 'raw' }]);
  });

  it('keeps hidden reasoning with a signature and no text, so that it can be sent back', () => {
    const item = { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'gAAAA' };
    expect(decodeEvents([created(), added(0, item), done(0, item), completed()]).slice(1, -1)).toEqual([
      { type: 'reasoning-delta', text: '' },
      { type: 'reasoning-signature', signature: 'gAAAA' },
    ]);
  });

  it('reads a refusal as text', () => {
    const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
    const item = { ...message(''), content: [{ type: 'refusal', refusal: 'I cannot.' }] };
    const events = decodeEvents([
      created(),
      { type: 'response.refusal.delta', ...place, delta: 'I can' },
      { type: 'response.refusal.delta', ...place, delta: 'not.' },
      { type: 'response.refusal.done', ...place, refusal: 'I cannot.' },
      done(0, item),
      completed({ output: [item] }),
    ]);
    expect(joined(events).slice(1)).toEqual([
      { type: 'text-delta', text: 'I cannot.' },
      { type: 'reply-end', stop: 'end' },
    ]);
  });

  it.each([
    ['max_output_tokens', 'length'],
    ['content_filter', 'filter'],
  ])('ends a reply truncated for %s with that reason (not as complete)', (reason, stop) => {
    const response = {
      id: 'resp_1',
      status: 'incomplete',
      incomplete_details: { reason },
      output: [],
      usage: null,
    };
    const events = decodeEvents([created(), textDelta('a'), { type: 'response.incomplete', response }]);
    expect(events.at(-1)).toEqual({ type: 'reply-end', stop });
  });

  it('reads an empty reply and null usage', () => {
    expect(decodeEvents([created(), completed({ usage: null })])).toEqual([
      start,
      { type: 'reply-end', stop: 'end' },
    ]);
  });
});
