import { describe, expect, it } from 'vitest';
import type { ChatMessage, ChatRequest } from '../../../src/core/chat.ts';
import type { Json, JsonObject } from '../../../src/core/json.ts';
import { WireError } from '../../../src/core/wire.ts';
import { openaiChat } from '../../../src/wire/openai-chat/openai-chat.ts';

const decode = (body: JsonObject) =>
  openaiChat.decodeRequest({ model: 'm', messages: [{ role: 'user', content: 'hi' }], ...body });
const decodeMessages = (...messages: readonly Json[]) => decode({ messages });
const tool = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } };
const text = (value: string) => ({ type: 'text' as const, text: value });
const PNG = 'data:image/png;base64,aGk=';

describe('a decoded chat completion request', () => {
  it('has leading system and developer messages as system text, later ones as messages', () => {
    const { system, messages } = decodeMessages(
      { role: 'system', content: 'be brief' },
      { role: 'developer', content: [text('a'), { ...text('b'), cache_control: { type: 'ephemeral' } }] },
      { role: 'user', content: 'hi', name: 'ann' },
      { role: 'developer', content: 'now in French' },
    );
    expect(system).toEqual([
      text('be brief'),
      text('a'),
      { ...text('b'), cacheControl: { type: 'ephemeral' } },
    ]);
    expect(messages).toEqual([
      { role: 'user', content: [text('hi')] },
      { role: 'system', content: [text('now in French')] },
    ]);
  });

  it('reads text, images and files of a user, whichever way the file is written', () => {
    const file = (file_data: string) => ({ type: 'file', file: { filename: 'a.pdf', file_data } });
    const { messages } = decodeMessages({
      role: 'user',
      content: [
        text(''),
        text('see'),
        { type: 'image_url', image_url: { url: PNG, detail: 'low' } },
        file('data:application/pdf;base64,JVBE'),
        file('JVBE'),
      ],
    });
    const pdf = { type: 'file', url: 'data:application/pdf;base64,JVBE', name: 'a.pdf' };
    expect(messages[0]?.content).toEqual([text('see'), { type: 'image', url: PNG }, pdf, pdf]);
  });

  it('reads an assistant’s reasoning, text, refusal and parallel calls, and the results', () => {
    const { messages } = decodeMessages(
      { role: 'user', content: 'hi' },
      {
        role: 'assistant',
        content: [text('one'), { type: 'refusal', refusal: 'no' }],
        reasoning_content: 'hm',
        reasoning_details: [{ type: 'reasoning.text', text: '', signature: 'sig' }],
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a": 1}' } },
          { id: 'c2', function: { name: 'f', arguments: 'not json' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'ok' },
      { role: 'tool', tool_call_id: 'c2', content: [text('a'), text('b')] },
    );
    expect(messages.slice(1)).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'hm', signature: 'sig' },
          text('one'),
          text('no'),
          { type: 'tool-call', id: 'c1', name: 'f', arguments: '{"a": 1}' },
          { type: 'tool-call', id: 'c2', name: 'f', arguments: 'not json' },
        ],
      },
      { role: 'tool', callId: 'c1', content: [text('ok')] },
      { role: 'tool', callId: 'c2', content: [text('a'), text('b')] },
    ]);
  });

  it('joins reasoning that a client sends back in pieces', () => {
    const detail = (more: JsonObject) => ({ type: 'reasoning.text', ...more });
    const { messages } = decodeMessages(
      { role: 'user', content: 'hi' },
      {
        role: 'assistant',
        content: null,
        reasoning: 'abc',
        reasoning_details: [
          detail({ text: 'a' }),
          detail({ text: 'b' }),
          detail({ signature: 's' }),
          detail({ text: 'c' }),
        ],
      },
    );
    expect(messages[1]?.content).toEqual([
      { type: 'reasoning', text: 'ab', signature: 's' },
      { type: 'reasoning', text: 'c' },
    ]);
  });

  it('supports the legacy function form, and links the result to its call', () => {
    const request = decode({
      functions: [{ name: 'f' }],
      function_call: { name: 'f' },
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
        { role: 'function', name: 'f', content: 'ok' },
      ],
    });
    expect(request).toMatchObject({
      tools: [{ name: 'f', parameters: { type: 'object', properties: {} } }],
      toolChoice: { name: 'f' },
    });
    const [, asked, answered] = request.messages as [ChatMessage, ChatMessage, ChatMessage];
    const id =
      asked.role === 'assistant' && asked.content[0]?.type === 'tool-call' ? asked.content[0].id : '';
    expect(id).not.toBe('');
    expect(answered).toEqual({ role: 'tool', callId: id, content: [text('ok')] });
  });

  it.each<[Json, ChatRequest['toolChoice']]>([
    ['auto', 'auto'],
    ['none', 'none'],
    ['required', 'required'],
    [{ type: 'function', function: { name: 'f' } }, { name: 'f' }],
    [{ type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [] } }, 'auto'],
    [{ type: 'custom', custom: { name: 'x' } }, 'auto'],
    [null, undefined],
  ])('reads tool_choice %j', (tool_choice, expected) => {
    expect(decode({ tools: [tool], tool_choice }).toolChoice).toEqual(expected);
  });

  it('has only function tools, and no tool choice when none is left', () => {
    const custom = { type: 'custom', custom: { name: 'x' } };
    expect(decode({ tools: [custom, tool, { type: 'web_search' }] }).tools).toHaveLength(1);
    const request = decode({ tools: [custom], tool_choice: 'required', parallel_tool_calls: true });
    expect(request).toEqual(decode({}));
  });

  it('reads every option, and null as left out', () => {
    const json_schema = { name: 'n', schema: { type: 'object' }, strict: null, description: 'd' };
    expect(
      decode({
        tools: [tool],
        max_tokens: 1,
        max_completion_tokens: 2,
        temperature: 0.5,
        top_p: 0.9,
        stop: 'x',
        reasoning_effort: 'xhigh',
        response_format: { type: 'json_schema', json_schema },
        user: 'u',
        stream: true,
        stream_options: { include_usage: true },
        parallel_tool_calls: false,
        n: 1,
        seed: 7,
        logprobs: true,
      }),
    ).toMatchObject({
      maxTokens: 2,
      temperature: 0.5,
      topP: 0.9,
      stop: ['x'],
      effort: 'xhigh',
      user: 'u',
      stream: true,
      parallelTools: false,
      format: { type: 'json-schema', name: 'n', schema: { type: 'object' } },
    });
    expect(
      decode({
        max_tokens: null,
        temperature: null,
        top_p: null,
        stop: null,
        reasoning_effort: null,
        n: null,
        response_format: { type: 'text' },
        user: null,
        stream: null,
        tools: null,
        tool_choice: null,
      }),
    ).toEqual(decode({}));
    expect(decode({ response_format: { type: 'json_object' } }).format).toEqual({ type: 'json' });
  });

  it.each<[string, JsonObject]>([
    ['model:', { model: '' }],
    ['messages:', { messages: {} }],
    ['messages:', { messages: [] }],
    ['messages[0].role:', { messages: [{ role: 'robot', content: 'x' }] }],
    ['messages[0].role:', { messages: [{ role: 'function', name: 'f', content: 'x' }] }],
    ['messages[0].content:', { messages: [{ role: 'user', content: 5 }] }],
    [
      'messages[0].content[1].type:',
      { messages: [{ role: 'system', content: [text(''), { type: 'image_url', image_url: { url: PNG } }] }] },
    ],
    [
      'messages[0].content[0].type:',
      { messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: {} }] }] },
    ],
    [
      'messages[0].content[0].file.file_id:',
      { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'f' } }] }] },
    ],
    ['messages[0].tool_call_id:', { messages: [{ role: 'tool', content: 'x' }] }],
    [
      'messages[0].tool_calls[0].function.arguments:',
      { messages: [{ role: 'assistant', tool_calls: [{ id: 'c', function: { name: 'f' } }] }] },
    ],
    ['tools[0].function.name:', { tools: [{ type: 'function', function: {} }] }],
    ['tool_choice:', { tools: [tool], tool_choice: 'any' }],
    ['stop[0]:', { stop: [1] }],
    ['max_tokens:', { max_tokens: 0.5 }],
    ['reasoning_effort:', { reasoning_effort: 'very' }],
    ['response_format.type:', { response_format: { type: 'xml' } }],
    ['n:', { n: 2 }],
  ])('names the field it refuses: %s', (field, body) => {
    expect(() => decode(body)).toThrow(WireError);
    expect(() => decode(body)).toThrow(field);
  });
});
