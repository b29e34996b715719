import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { openaiResponses as wire } from '../../../src/wire/openai-responses/openai-responses.ts';

const decode = (body: JsonObject) => wire.decodeRequest({ model: 'm', input: 'hi', ...body });
const text = (value: string) => ({ type: 'text', text: value });

describe('a decoded Responses request', () => {
  it('has a plain input string as user message', () => {
    expect(decode({})).toEqual({
      model: 'm',
      system: [],
      messages: [{ role: 'user', content: [text('hi')] }],
      tools: [],
      stream: false,
    });
  });

  it('has instructions before leading developer messages, and later ones in place', () => {
    const { system, messages } = decode({
      instructions: 'first',
      input: [
        { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'second' }] },
        { role: 'system', content: 'third' },
        { role: 'user', content: 'hi' },
        { role: 'developer', content: 'later' },
      ],
    });
    expect(system).toEqual([text('first'), text('second'), text('third')]);
    expect(messages).toEqual([
      { role: 'user', content: [text('hi')] },
      { role: 'system', content: [text('later')] },
    ]);
  });

  it('has reasoning, text and calls of one turn in one assistant message, in order', () => {
    const { messages } = decode({
      input: [
        { role: 'user', content: 'hi' },
        {
          type: 'reasoning',
          id: 'rs_1',
          summary: [
            { type: 'summary_text', text: 'a' },
            { type: 'summary_text', text: 'b' },
          ],
          encrypted_content: 'enc',
        },
        { type: 'message', role: 'assistant', id: 'msg_1', content: [{ type: 'output_text', text: 'so' }] },
        { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'f', arguments: '{"a":1}' },
        { type: 'function_call', id: 'fc_2', call_id: 'c2', name: 'g', arguments: '{' },
        { type: 'function_call_output', call_id: 'c1', output: 'one' },
        {
          type: 'function_call_output',
          call_id: 'c2',
          output: [
            { type: 'input_text', text: 'two' },
            { type: 'input_image', image_url: 'data:image/png;base64,aGk=' },
          ],
        },
      ],
    });
    expect(messages.slice(1)).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'a\n\nb', signature: 'enc' },
          text('so'),
          { type: 'tool-call', id: 'c1', name: 'f', arguments: '{"a":1}' },
          { type: 'tool-call', id: 'c2', name: 'g', arguments: '{' },
        ],
      },
      { role: 'tool', callId: 'c1', content: [text('one')] },
      {
        role: 'tool',
        callId: 'c2',
        content: [text('two'), { type: 'image', url: 'data:image/png;base64,aGk=' }],
      },
    ]);
  });

  it('prefers reasoning to its summary, and drops reasoning without an answer', () => {
    const { messages } = decode({
      input: [
        {
          type: 'reasoning',
          summary: [{ type: 'summary_text', text: 'short' }],
          content: [{ type: 'reasoning_text', text: 'long' }],
        },
        { role: 'assistant', content: 'answer' },
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'cut off' }] },
        { role: 'user', content: 'stop' },
      ],
    });
    expect(messages).toEqual([
      { role: 'assistant', content: [{ type: 'reasoning', text: 'long' }, text('answer')] },
      { role: 'user', content: [text('stop')] },
    ]);
  });

  it('reads files, images, refusals and cache marks', () => {
    const { messages } = decode({
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'x', prompt_cache_breakpoint: { mode: 'explicit' } },
            { type: 'input_image', image_url: 'https://e.com/a.png', detail: 'high', file_id: null },
            { type: 'input_file', filename: 'p.pdf', file_data: 'data:application/pdf;base64,AA==' },
            { type: 'input_file', file_url: 'https://e.com/p.pdf' },
            { type: 'input_text', text: '' },
          ],
        },
        { role: 'assistant', content: [{ type: 'refusal', refusal: 'no' }] },
      ],
    });
    expect(messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'x', cacheControl: { type: 'ephemeral' } },
          { type: 'image', url: 'https://e.com/a.png' },
          { type: 'file', url: 'data:application/pdf;base64,AA==', name: 'p.pdf' },
          { type: 'file', url: 'https://e.com/p.pdf' },
        ],
      },
      { role: 'assistant', content: [text('no')] },
    ]);
  });

  it('leaves out provider-specific items with the results of their calls', () => {
    const { messages } = decode({
      input: [
        { type: 'item_reference', id: 'msg_9' },
        { type: 'compaction', encrypted_content: 'enc' },
        {
          type: 'local_shell_call',
          call_id: 'sh_1',
          status: 'completed',
          action: { type: 'exec', command: [] },
        },
        { type: 'function_call_output', call_id: 'sh_1', output: 'gone' },
        { type: 'web_search_call', id: 'ws_1', status: 'completed' },
        { role: 'user', content: 'hi' },
      ],
    });
    expect(messages).toEqual([{ role: 'user', content: [text('hi')] }]);
  });

  it('reads every option, and null as absent', () => {
    expect(
      decode({
        max_output_tokens: 9,
        temperature: 0.5,
        top_p: 0.9,
        parallel_tool_calls: false,
        reasoning: { effort: 'xhigh', summary: 'auto' },
        text: { format: { type: 'json_schema', name: 'n', schema: { type: 'object' }, strict: null } },
        safety_identifier: 'u',
        prompt_cache_key: 'k',
        stream: true,
      }),
    ).toMatchObject({
      maxTokens: 9,
      temperature: 0.5,
      topP: 0.9,
      parallelTools: false,
      effort: 'xhigh',
      format: { type: 'json-schema', name: 'n', schema: { type: 'object' } },
      user: 'u',
      stream: true,
    });
    const open = { instructions: null, tools: null, tool_choice: null, temperature: null, reasoning: null };
    expect(decode({ ...open, text: null, stream: null, user: null, previous_response_id: null })).toEqual(
      decode({}),
    );
    expect(decode({ text: { format: { type: 'json_object' }, verbosity: 'low' } }).format).toEqual({
      type: 'json',
    });
    expect(decode({ text: { format: { type: 'text' } } }).format).toBeUndefined();
    expect(decode({ reasoning: { effort: 'ultra' } }).effort).toBe('max');
    expect(decode({ reasoning: { effort: 'of its own' } }).effort).toBeUndefined();
  });

  it('keeps the client’s own tools and drops the provider’s', () => {
    const parameters = { type: 'object', properties: { a: { type: 'string' } } };
    const { tools, toolChoice } = decode({
      tools: [
        { type: 'function', name: 'f', description: 'does f', parameters, strict: true },
        { type: 'function', name: 'bare', parameters: null, description: null },
        { type: 'web_search', external_web_access: false },
        { type: 'local_shell' },
        { type: 'mcp', server_label: 's', server_url: 'https://e.com' },
      ],
      tool_choice: { type: 'function', name: 'f' },
    });
    expect(tools).toEqual([
      { name: 'f', description: 'does f', parameters },
      { name: 'bare', parameters: { type: 'object', properties: {} } },
    ]);
    expect(toolChoice).toEqual({ name: 'f' });
  });

  it('reads every form of tool choice', () => {
    const tools = ['a', 'b'].map((name) => ({ type: 'function', name }));
    const choose = (tool_choice: JsonObject | string) => decode({ tools, tool_choice });
    for (const word of ['auto', 'none', 'required']) expect(choose(word).toolChoice).toBe(word);
    expect(choose({ type: 'custom', name: 'a' }).toolChoice).toEqual({ name: 'a' });
    expect(choose({ type: 'web_search_preview' }).toolChoice).toBeUndefined();
    const allowed = choose({
      type: 'allowed_tools',
      mode: 'required',
      tools: [{ type: 'function', name: 'b' }],
    });
    expect(allowed.toolChoice).toBe('required');
    expect(allowed.tools.map((tool) => tool.name)).toEqual(['b']);
    expect(decode({ tools: [{ type: 'web_search' }], tool_choice: 'required' }).toolChoice).toBeUndefined();
  });
});
