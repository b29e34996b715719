import { describe, expect, it } from 'vitest';
import type { ChatMessage, ChatRequest } from '../../../src/core/chat.ts';
import type { Json, JsonObject } from '../../../src/core/json.ts';
import { WireError } from '../../../src/core/wire.ts';
import { anthropic } from '../../../src/wire/anthropic/anthropic.ts';
import { encodeTokenCount, estimateRequestTokens } from '../../../src/wire/anthropic/count-tokens.ts';

const user = (text: string): ChatMessage => ({ role: 'user', content: [{ type: 'text', text }] });
const result = (callId: string, text: string): ChatMessage => ({
  role: 'tool',
  callId,
  content: text === '' ? [] : [{ type: 'text', text }],
});
const request = (more: Partial<ChatRequest> = {}): ChatRequest => ({
  model: 'm',
  system: [],
  messages: [user('hi')],
  tools: [],
  stream: false,
  ...more,
});
const decode = (more: JsonObject) =>
  anthropic.decodeRequest({
    model: 'm',
    max_tokens: 9,
    messages: [{ role: 'user', content: 'hi' }],
    ...more,
  });
const decodeContent = (role: string, content: Json) => decode({ messages: [{ role, content }] }).messages;
const turnsOf = (messages: readonly ChatMessage[]) => anthropic.encodeRequest(request({ messages })).messages;

describe('a decoded Anthropic request', () => {
  it('has every member of a ChatRequest', () => {
    const body = {
      model: 'claude-opus-4-1',
      max_tokens: 1024,
      system: [{ type: 'text', text: 'Be brief', cache_control: { type: 'ephemeral' } }],
      messages: [{ role: 'user', content: 'hi' }],
      tools: [
        { name: 'ls', description: 'Lists', input_schema: { type: 'object' }, cache_control: null },
        { type: 'custom', name: 'pwd', input_schema: { type: 'object' } },
        { type: 'web_search_20250305', name: 'web_search', max_uses: 5 },
      ],
      tool_choice: { type: 'tool', name: 'ls', disable_parallel_tool_use: true },
      temperature: 0.5,
      top_p: null,
      top_k: 40,
      stop_sequences: ['END'],
      metadata: { user_id: 'u1' },
      output_config: { format: { type: 'json_schema', schema: { type: 'object' } } },
      stream: true,
    };
    expect(anthropic.decodeRequest(body)).toEqual({
      model: 'claude-opus-4-1',
      maxTokens: 1024,
      system: [{ type: 'text', text: 'Be brief', cacheControl: { type: 'ephemeral' } }],
      messages: [user('hi')],
      tools: [
        { name: 'ls', description: 'Lists', parameters: { type: 'object' } },
        { name: 'pwd', parameters: { type: 'object' } },
      ],
      toolChoice: { name: 'ls' },
      parallelTools: false,
      temperature: 0.5,
      stop: ['END'],
      user: 'u1',
      format: { type: 'json-schema', name: 'reply', schema: { type: 'object' } },
      stream: true,
    });
  });

  it('has tool results before the text of the same message, with images and errors', () => {
    const source = { type: 'base64', media_type: 'image/png', data: 'aGk=' };
    const blocks = [
      { type: 'text', text: 'and now?' },
      {
        type: 'tool_result',
        tool_use_id: 'a',
        content: [
          { type: 'text', text: 'x' },
          { type: 'image', source },
        ],
      },
      { type: 'tool_result', tool_use_id: 'b', content: 'no such file', is_error: true },
      { type: 'tool_result', tool_use_id: 'c' },
    ];
    expect(decodeContent('user', blocks)).toEqual([
      {
        role: 'tool',
        callId: 'a',
        content: [
          { type: 'text', text: 'x' },
          { type: 'image', url: 'data:image/png;base64,aGk=' },
        ],
      },
      { ...result('b', 'no such file'), isError: true },
      result('c', ''),
      user('and now?'),
    ]);
  });

  it('contains documents of every source that can be translated', () => {
    const url = 'https://example.com/a.pdf';
    const blocks = [
      { type: 'document', source: { type: 'url', url }, title: 'a.pdf' },
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' } },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'plain' }, title: 'notes' },
      { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'inner' }] } },
      { type: 'search_result', title: 'T', source: 's', content: [{ type: 'text', text: 'hit' }] },
    ];
    expect(decodeContent('user', blocks)).toEqual([
      {
        role: 'user',
        content: [
          { type: 'file', url, name: 'a.pdf' },
          { type: 'file', url: 'data:application/pdf;base64,JVBERi0=' },
          { type: 'text', text: 'notes\n\nplain' },
          { type: 'text', text: 'inner' },
          { type: 'text', text: 'T\ns\nhit' },
        ],
      },
    ]);
  });

  it('keeps thinking with its signature, and leaves out server-side tool calls', () => {
    const blocks = [
      { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
      { type: 'redacted_thinking', data: 'EmwK' },
      { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
      { type: 'web_search_tool_result', tool_use_id: 's', content: [] },
      { type: 'tool_use', id: 'a', name: 'ls', input: { path: '/' } },
    ];
    const messages = decodeContent('assistant', blocks);
    expect(messages).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'hm', signature: 'c2ln' },
          { type: 'reasoning', text: '', signature: 'redacted_thinking:EmwK' },
          { type: 'tool-call', id: 'a', name: 'ls', arguments: '{"path":"/"}' },
        ],
      },
    ]);
    expect(turnsOf(messages)).toEqual([{ role: 'assistant', content: [blocks[0], blocks[1], blocks[4]] }]);
  });

  it('distinguishes leading system messages from later ones', () => {
    const system = (content: string) => ({ role: 'system', content });
    const read = decode({
      system: 'one',
      messages: [system('two'), { role: 'user', content: 'hi' }, system('three')],
    });
    expect(read.system.map(({ text }) => text)).toEqual(['one', 'two']);
    expect(read.messages).toEqual([
      user('hi'),
      { role: 'system', content: [{ type: 'text', text: 'three' }] },
    ]);
  });

  it.each<[JsonObject, ChatRequest['effort']]>([
    [{ thinking: { type: 'enabled', budget_tokens: 1024 } }, 'minimal'],
    [{ thinking: { type: 'enabled', budget_tokens: 4000 } }, 'low'],
    [{ thinking: { type: 'enabled', budget_tokens: 10_000 } }, 'medium'],
    [{ thinking: { type: 'enabled', budget_tokens: 31_999 } }, 'xhigh'],
    [{ thinking: { type: 'adaptive' }, output_config: { effort: 'max' } }, 'max'],
    [{ thinking: { type: 'adaptive' } }, undefined],
    [{ thinking: { type: 'disabled' } }, 'none'],
    [{ output_config: { effort: null } }, undefined],
  ])('reads the effort of %j as %s', (body, effort) => {
    expect(decode(body).effort).toBe(effort);
  });

  it.each<[JsonObject, Partial<ChatRequest>]>([
    [{ type: 'auto' }, { toolChoice: 'auto' }],
    [{ type: 'none' }, { toolChoice: 'none' }],
    [
      { type: 'any', disable_parallel_tool_use: false },
      { toolChoice: 'required', parallelTools: true },
    ],
    [{ type: 'tool', name: 'web_search' }, {}],
  ])('reads the tool choice %j', (choice, expected) => {
    const tools = [{ name: 'ls', input_schema: {} }];
    const { toolChoice, parallelTools } = decode({ tools, tool_choice: choice });
    expect({ toolChoice, parallelTools }).toEqual(expected);
    expect(decode({ tool_choice: choice }).toolChoice).toBeUndefined();
  });

  it('has the schema of the older member `output_format`', () => {
    expect(decode({ output_format: { type: 'json_schema', schema: {} } }).format).toMatchObject({
      schema: {},
    });
  });

  it.each<[JsonObject, string]>([
    [{ model: 7 }, 'model: '],
    [{ messages: [] }, 'messages: '],
    [{ max_tokens: -1 }, 'max_tokens: '],
    [{ system: [{ type: 'image' }] }, 'system[0].type: '],
    [{ messages: [{ role: 'tool', content: '' }] }, 'messages[0].role: '],
    [{ messages: [{ role: 'user', content: [{ type: 'video' }] }] }, 'messages[0].content[0].type: '],
    [{ messages: [{ role: 'user', content: [{ type: 'text' }] }] }, 'messages[0].content[0].text: '],
    [
      { messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'file', file_id: 'f' } }] }] },
      'messages[0].content[0].source.type: ',
    ],
    [
      { messages: [{ role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'b', input: 'c' }] }] },
      'messages[0].content[0].input: ',
    ],
    [{ tools: [{ name: 'ls' }] }, 'tools[0].input_schema: '],
    [{ tool_choice: { type: 'required' } }, 'tool_choice.type: '],
    [{ stop_sequences: [1] }, 'stop_sequences[0]: '],
    [{ stream: 'yes' }, 'stream: '],
  ])('refuses %j and names the field', (body, path) => {
    expect(() => decode(body)).toThrow(WireError);
    expect(() => decode(body)).toThrow(path);
  });
});

describe('the token estimate', () => {
  it('is proportional to bytes, with a fixed cost per image', () => {
    const bare = estimateRequestTokens(request());
    expect(estimateRequestTokens(request({ messages: [user(`hi${'世'.repeat(400)}`)] }))).toBe(bare + 300);
    const image = { type: 'image' as const, url: `data:image/png;base64,${'A'.repeat(100_000)}` };
    expect(estimateRequestTokens(request({ messages: [{ role: 'user', content: [image] }] }))).toBeLessThan(
      2000,
    );
    expect(encodeTokenCount(bare)).toEqual({ input_tokens: bare });
  });

  it('includes system text, tools, calls and results, also for a request without a limit', () => {
    const tools = [{ name: 'ls', input_schema: { type: 'object' } }];
    const full = anthropic.decodeRequest({
      model: 'm',
      system: 'x'.repeat(40),
      tools,
      messages: [
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'ls', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'y'.repeat(40) }] },
      ],
    });
    const less = estimateRequestTokens({ ...full, tools: [], system: [], messages: [] });
    expect(less).toBe(0);
    expect(estimateRequestTokens(full)).toBeGreaterThan(60);
  });
});
