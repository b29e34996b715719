import { describe, expect, it } from 'vitest';
import type { ChatMessage, ChatRequest, UserPart } from '../../../src/core/chat.ts';
import { openaiChat } from '../../../src/wire/openai-chat/openai-chat.ts';

const encode = (request: Partial<ChatRequest>) =>
  openaiChat.encodeRequest({ model: 'm', system: [], messages: [], tools: [], stream: false, ...request });
const text = (value: string) => ({ type: 'text' as const, text: value });
const PNG = 'data:image/png;base64,aGk=';

describe('an encoded chat completion request', () => {
  const messagesOf = (request: Partial<ChatRequest>) => encode(request).messages;

  it('has one text as a string and several as parts (never a cache mark)', () => {
    const marked = { ...text('b'), cacheControl: { type: 'ephemeral' } };
    expect(messagesOf({ system: [marked] })).toEqual([{ role: 'system', content: 'b' }]);
    expect(messagesOf({ system: [text('a'), marked] })).toEqual([
      { role: 'system', content: [text('a'), text('b')] },
    ]);
  });

  it('has images of tool results after all results, in the next user message', () => {
    const result = (callId: string, ...content: UserPart[]): ChatMessage => ({
      role: 'tool',
      callId,
      content,
    });
    const image = { type: 'image' as const, url: PNG };
    const results = [result('c1', text('a'), text('b'), image), result('c2', image), result('c3', text('c'))];
    const expected = [
      { role: 'tool', tool_call_id: 'c1', content: 'a\nb' },
      { role: 'tool', tool_call_id: 'c2', content: 'The result is attached to the next user message.' },
      { role: 'tool', tool_call_id: 'c3', content: 'c' },
    ];
    const images = [
      text('Attached to the result of tool call c1:'),
      { type: 'image_url', image_url: { url: PNG } },
      text('Attached to the result of tool call c2:'),
      { type: 'image_url', image_url: { url: PNG } },
    ];
    expect(messagesOf({ messages: results })).toEqual([...expected, { role: 'user', content: images }]);
    expect(messagesOf({ messages: [...results, { role: 'user', content: [text('go on')] }] })).toEqual([
      ...expected,
      { role: 'user', content: [...images, text('go on')] },
    ]);
    const reply = { role: 'assistant' as const, content: [text('ok')] };
    expect(messagesOf({ messages: [...results, reply] })).toEqual([
      ...expected,
      { role: 'user', content: images },
      { role: 'assistant', content: 'ok' },
    ]);
  });

  it('writes a plain-text file as text (not as a file, which is refused)', () => {
    const file = { type: 'file' as const, url: `data:text/plain;base64,${btoa('hello')}`, name: 'a.txt' };
    expect(messagesOf({ messages: [{ role: 'user', content: [file] }] })).toEqual([
      { role: 'user', content: 'a.txt:\nhello' },
    ]);
  });

  const thinking: ChatMessage = {
    role: 'assistant',
    content: [
      { type: 'reasoning', text: 'hm', signature: 'sig' },
      { type: 'tool-call', id: 'c', name: 'f', arguments: '' },
    ],
  };
  const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };

  it('writes reasoning with its signature, and a call without arguments as an empty object', () => {
    expect(messagesOf({ messages: [thinking] })).toEqual([
      {
        role: 'assistant',
        content: null,
        reasoning_content: 'hm',
        reasoning_details: [{ type: 'reasoning.text', text: 'hm', signature: 'sig', index: 0 }],
        tool_calls: [call],
      },
    ]);
  });

  it.each(['gpt-5.1', 'o3-mini', 'gpt-4o', 'mistral-large-2512'])(
    'leaves reasoning out for %s, which refuses it',
    (model) => {
      expect(messagesOf({ model, messages: [thinking] })).toEqual([
        { role: 'assistant', content: null, tool_calls: [call] },
      ]);
    },
  );

  it('writes parts as one string for DeepSeek, which refuses an array', () => {
    const said = { role: 'user' as const, content: [text('c'), text('d')] };
    expect(messagesOf({ model: 'deepseek-chat', system: [text('a'), text('b')], messages: [said] })).toEqual([
      { role: 'system', content: 'a\n\nb' },
      { role: 'user', content: 'c\n\nd' },
    ]);
  });

  it.each([
    ['llama3.2', undefined, { max_tokens: 9 }],
    ['gpt-oss:20b', undefined, { max_tokens: 9 }],
    ['gpt-4o', 'high', { max_tokens: 9 }],
    ['qwen3', 'low', { max_completion_tokens: 9, reasoning_effort: 'low' }],
    ['gpt-5-mini', undefined, { max_completion_tokens: 9 }],
    ['openai/o4-mini', undefined, { max_completion_tokens: 9 }],
  ] as const)('names the limit as %s (effort %s) takes it', (model, effort, expected) => {
    const {
      messages: _,
      model: __,
      ...rest
    } = encode({ model, maxTokens: 9, ...(effort ? { effort } : {}) });
    expect(rest).toEqual(expected);
  });

  it('requests usage for a stream, and leaves out unset options', () => {
    expect(encode({ stream: true })).toEqual({
      model: 'm',
      messages: [],
      stream: true,
      stream_options: { include_usage: true },
    });
  });
});
