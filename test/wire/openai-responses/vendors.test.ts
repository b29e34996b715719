import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { openaiResponses as wire } from '../../../src/wire/openai-responses/openai-responses.ts';
import { joined } from '../arbitraries.ts';
import { readStream } from '../wire-contract.ts';
import {
  added,
  call,
  completed,
  created,
  decodeEvents,
  done,
  message,
  start,
  streamOf,
  textDelta,
} from './events.ts';

describe('a vendor’s decoded Responses stream', () => {
  const whole = [{ type: 'text-delta', text: 'hello' }];
  const said = (events: readonly JsonObject[]) => joined(decodeEvents(events)).slice(1, -1);

  it.each<[string, JsonObject[]]>([
    [
      'only the finished text',
      [{ type: 'response.output_text.done', output_index: 0, content_index: 0, text: 'hello' }],
    ],
    ['only the finished item', [done(0, message('hello'))]],
    ['only the finished reply', []],
    ['half of the deltas', [textDelta('hel'), done(0, message('hello'))]],
    [
      'an item id that changes',
      [{ ...textDelta('hello'), item_id: 'msg_x' }, done(0, { ...message('hello'), id: 'msg_y' })],
    ],
    ['deltas without a place', [added(0, message('')), textDelta('hello', {}), done(0, message('hello'))]],
    [
      'deltas without place or id',
      [
        added(0, message('')),
        { type: 'response.output_text.delta', delta: 'hello' },
        done(0, message('hello')),
      ],
    ],
    [
      'a last output with other places',
      [textDelta('hello', { output_index: 3, content_index: 0 }), done(3, message('hello'))],
    ],
  ])('gives the text once for %s', (_, events) => {
    expect(said([created(), ...events, completed({ output: [message('hello')] })])).toEqual(whole);
  });

  it.each<[string, JsonObject[]]>([
    ['only the finished item', [done(0, call(1, '{"a":1}'))]],
    ['only the finished reply', []],
    ['arguments at the start', [added(0, call(1, '{"a":1}')), done(0, call(1, '{"a":1}'))]],
    [
      'deltas by item id',
      [
        added(0, call(1, '')),
        { type: 'response.function_call_arguments.delta', item_id: 'fc_1', delta: '{"a":1}' },
      ],
    ],
    [
      'no start',
      [
        { type: 'response.function_call_arguments.delta', output_index: 0, delta: '{"a":1}' },
        done(0, call(1, '{"a":1}')),
      ],
    ],
  ])('gives the call once for %s', (_, events) => {
    expect(said([created(), ...events, completed({ output: [call(1, '{"a":1}')] })])).toEqual([
      { type: 'tool-start', id: 'call_1', name: 'run' },
      { type: 'tool-delta', id: 'call_1', json: '{"a":1}' },
    ]);
  });

  it('uses the item’s id, or its index, for a missing call id', () => {
    const { call_id: _, ...bare } = call(1, '{}');
    expect(said([created(), done(0, bare), completed({ output: [bare] })])[0]).toMatchObject({ id: 'fc_1' });
    const item = { type: 'function_call', name: 'run', arguments: '{}', call_id: '' };
    const events = said([created(), done(2, item), completed({ output: [item] })]);
    expect(events.filter((event) => event.type === 'tool-start')).toEqual([
      { type: 'tool-start', id: 'call_2', name: 'run' },
    ]);
  });

  it('needs neither a first event nor event names, and ends even if [DONE] or more follows', () => {
    const text = [textDelta('a'), completed(), textDelta('b')].map(
      (event) => `data: ${JSON.stringify(event)}\n\n`,
    );
    expect(readStream(wire, `: ping\n\n${text.join('')}data: [DONE]\n\n`)).toEqual([
      { type: 'reply-start', id: 'resp_0', model: '' },
      { type: 'text-delta', text: 'a' },
      { type: 'reply-end', stop: 'end' },
    ]);
  });

  it('is truncated when the last event is missing', () => {
    const events = readStream(wire, streamOf([created(), textDelta('a')]));
    expect(events.at(-1)).toMatchObject({ type: 'failure', failure: { kind: 'truncated', status: 502 } });
  });
});

describe('a complete decoded Responses reply', () => {
  it('gives reasoning, text and calls in the order of the output', () => {
    const reasoning = {
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'summary_text', text: 'hm' }],
      encrypted_content: null,
    };
    const { response } = completed({
      output: [reasoning, message('hi'), { type: 'web_search_call' }, call(1, '{}')],
    });
    expect(wire.decodeReply(response as JsonObject)).toEqual([
      start,
      { type: 'reasoning-delta', text: 'hm' },
      { type: 'text-delta', text: 'hi' },
      { type: 'tool-start', id: 'call_1', name: 'run' },
      { type: 'tool-delta', id: 'call_1', json: '{}' },
      { type: 'reply-end', stop: 'tool-calls' },
    ]);
  });

  it('is a failure (not an empty reply) when it has no output, failed, or is not finished', () => {
    const failure = (body: JsonObject) => {
      const [event, ...more] = wire.decodeReply(body);
      expect(more).toEqual([]);
      return event?.type === 'failure' ? event.failure : undefined;
    };
    expect(failure({})).toMatchObject({ kind: 'upstream-error' });
    expect(failure({ error: { message: 'bad key', code: 'invalid_api_key' } })).toMatchObject({
      kind: 'unauthorized',
      message: 'bad key',
    });
    expect(
      failure({ status: 'failed', output: [], error: { code: 'rate_limit_exceeded', message: 'slow' } }),
    ).toMatchObject({
      kind: 'rate-limited',
      message: 'slow',
    });
    expect(failure({ status: 'in_progress', output: [] })).toMatchObject({ kind: 'upstream-error' });
  });
});
