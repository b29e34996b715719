import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { openaiChat } from '../../../src/wire/openai-chat/openai-chat.ts';
import { delta, ended, grown, read, said, started, thought } from './chunks.ts';

describe('reasoning as servers really send it', () => {
  it.each(['reasoning_content', 'reasoning'])('reads delta.%s', (member) => {
    expect(read(delta({ [member]: 'hm' }), delta({ content: 'ok' }), delta({}, 'stop'))).toEqual([
      thought('hm'),
      said('ok'),
      ended(),
    ]);
  });

  it('appears once (not twice) when OpenRouter or vLLM send it in two members', () => {
    const detail = { type: 'reasoning.text', text: 'hm', format: 'anthropic-claude-v1', index: 0 };
    expect(
      read(
        delta({ content: '', reasoning: 'hm', reasoning_details: [detail] }),
        delta({ reasoning: 'so', reasoning_content: 'so' }),
        delta({
          reasoning: null,
          reasoning_details: [{ type: 'reasoning.text', signature: 'sig', index: 0 }],
        }),
        delta({ reasoning_details: [{ type: 'reasoning.summary', summary: 'in short' }] }),
        delta({ reasoning_details: [{ type: 'reasoning.encrypted', data: 'x' }, null] }),
        delta({}, 'stop'),
      ),
    ).toEqual([
      thought('hm'),
      thought('so'),
      { type: 'reasoning-signature', signature: 'sig' },
      thought('in short'),
      ended(),
    ]);
  });

  it('reads the content parts of Mistral’s thinking models', () => {
    const thinking = { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] };
    expect(
      read(
        delta({ content: [thinking] }),
        delta({ content: [{ type: 'text', text: 'ok' }] }),
        delta({}, 'stop'),
      ),
    ).toEqual([thought('hm'), said('ok'), ended()]);
  });
});

describe('finish reasons and usage as servers really send them', () => {
  const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
  const counted = { type: 'reply-end', stop: 'end', usage: { inputTokens: 5, outputTokens: 2 } };

  it.each<[string, JsonObject]>([
    ['beside the finish', delta({}, 'stop', { usage })],
    [
      'in the choice (Moonshot)',
      { id: 'r', choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage }] },
    ],
    ['in x_groq', delta({}, 'stop', { x_groq: { usage } })],
  ])('finds the usage %s', (_, last) => {
    expect(read(delta({ role: 'assistant' }), last)).toEqual([counted]);
  });

  it('include DeepSeek’s cache count, and reasoning that xAI does not count as completion', () => {
    const deepseek = { ...usage, prompt_cache_hit_tokens: 4, prompt_cache_miss_tokens: 1 };
    expect(read(delta({}, 'stop', { usage: deepseek })).at(-1)).toMatchObject({
      usage: { inputTokens: 5, outputTokens: 2, cacheReadTokens: 4 },
    });
    const xai = { ...usage, total_tokens: 10, completion_tokens_details: { reasoning_tokens: 3 } };
    expect(read(delta({}, 'stop', { usage: xai })).at(-1)).toMatchObject({
      usage: { inputTokens: 5, outputTokens: 5, reasoningTokens: 3 },
    });
  });

  it('start with Azure’s first real chunk, and ignore other choices and an empty finish reason', () => {
    const azure = {
      id: '',
      model: '',
      object: '',
      choices: [],
      prompt_filter_results: [{ prompt_index: 0 }],
    };
    const other = { id: 'r', choices: [{ index: 1, delta: { content: 'no' }, finish_reason: 'stop' }] };
    const decoder = openaiChat.createStreamDecoder();
    const events = [azure, other, delta({ content: 'a' }, ''), delta({}, 'stop')].flatMap((chunk) =>
      decoder.decode({ event: undefined, data: JSON.stringify(chunk) }),
    );
    expect([...events, ...decoder.end()]).toEqual([
      { type: 'reply-start', id: 'r', model: 'm' },
      said('a'),
      ended(),
    ]);
  });

  it('report a stop sequence when vLLM names it', () => {
    const last = { id: 'r', choices: [{ index: 0, delta: {}, finish_reason: 'stop', stop_reason: '###' }] };
    expect(read(last)).toEqual([ended('stop-sequence')]);
  });

  it.each([
    ['error', 'upstream-error'],
    ['insufficient_system_resource', 'overloaded'],
  ])('turn finish_reason "%s" into a failure (not an end)', (reason, kind) => {
    expect(read(delta({ content: 'a' }), delta({}, reason))).toMatchObject([
      said('a'),
      { failure: { kind } },
    ]);
  });

  it.each<[string, JsonObject, object]>([
    [
      'OpenRouter',
      delta({ content: '' }, 'error', { error: { code: 429, message: 'busy' } }),
      { kind: 'rate-limited', status: 429 },
    ],
    [
      'vLLM',
      { object: 'error', message: 'busy', type: 'BadRequestError', code: 400 },
      { kind: 'bad-request', status: 400 },
    ],
    ['TGI', { error: 'busy', error_type: 'overloaded' }, { kind: 'upstream-error', status: 502 }],
  ])('ends at an error in the stream as %s sends it', (_, chunk, failure) => {
    expect(read(delta({ content: 'a' }), chunk).at(-1)).toMatchObject({
      failure: { ...failure, message: 'busy' },
    });
  });

  it('ends at an event named error', () => {
    const decoder = openaiChat.createStreamDecoder();
    const data = '{"message":"no such model","code":"model_not_found"}';
    expect(decoder.decode({ event: 'error', data })).toEqual([
      {
        type: 'failure',
        failure: { kind: 'not-found', status: 404, message: 'no such model', code: 'model_not_found' },
      },
    ]);
  });
});

describe('complete replies', () => {
  it('reads every member, in the order reasoning, text, calls', () => {
    const events = openaiChat.decodeReply({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      model: 'm',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'ok',
            refusal: null,
            annotations: [],
            reasoning: 'ab',
            reasoning_details: [
              { type: 'reasoning.text', text: 'a', signature: 's1' },
              { type: 'reasoning.text', text: 'b', signature: 's2' },
            ],
            tool_calls: [
              { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } },
              { id: 'c2', type: 'function', function: { name: 'f', arguments: '{}' } },
            ],
          },
          finish_reason: 'stop',
        },
      ],
      usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
    });
    expect(events).toEqual([
      { type: 'reply-start', id: 'chatcmpl-1', model: 'm' },
      thought('a'),
      { type: 'reasoning-signature', signature: 's1' },
      thought('b'),
      { type: 'reasoning-signature', signature: 's2' },
      said('ok'),
      started('c1', 'f'),
      grown('c1', '{}'),
      started('c2', 'f'),
      grown('c2', '{}'),
      { type: 'reply-end', stop: 'tool-calls', usage: { inputTokens: 5, outputTokens: 2 } },
    ]);
  });

  it('are failures (not empty replies) without choices, or with an error in a 200', () => {
    expect(openaiChat.decodeReply({ id: 'x', choices: [] })).toMatchObject([
      { failure: { kind: 'upstream-error' } },
    ]);
    expect(
      openaiChat.decodeReply({ error: { message: 'no', code: 503 }, choices: [{ message: {} }] }),
    ).toMatchObject([{ failure: { kind: 'overloaded', status: 503, message: 'no' } }]);
  });
});
