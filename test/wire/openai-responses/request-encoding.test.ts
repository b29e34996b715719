import { describe, expect, it } from 'vitest';
import { openaiResponses as wire } from '../../../src/wire/openai-responses/openai-responses.ts';

describe('an encoded Responses request', () => {
  it('disables storage and requests encrypted reasoning', () => {
    const body = wire.encodeRequest({
      model: 'm',
      system: [
        { type: 'text', text: 'one' },
        { type: 'text', text: 'two', cacheControl: { type: 'ephemeral' } },
      ],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'hi' }] },
        {
          role: 'assistant',
          content: [
            { type: 'reasoning', text: 'hm', signature: 'enc' },
            { type: 'reasoning', text: 'unsigned' },
            { type: 'text', text: 'so' },
            { type: 'tool-call', id: 'c1', name: 'f', arguments: '' },
          ],
        },
        {
          role: 'tool',
          callId: 'c1',
          content: [{ type: 'image', url: 'https://e.com/a.png' }],
          isError: true,
        },
        { role: 'system', content: [{ type: 'text', text: 'later' }] },
      ],
      tools: [{ name: 'f', parameters: { type: 'object' } }],
      toolChoice: { name: 'f' },
      parallelTools: true,
      stop: ['x'],
      effort: 'high',
      format: { type: 'json' },
      stream: true,
    });
    expect(body).toEqual({
      model: 'm',
      instructions: 'one',
      input: [
        { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'two' }] },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] },
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }], encrypted_content: 'enc' },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'so' }] },
        { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
        {
          type: 'function_call_output',
          call_id: 'c1',
          output: [{ type: 'input_image', image_url: 'https://e.com/a.png', detail: 'auto' }],
        },
        { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'later' }] },
      ],
      tools: [{ type: 'function', name: 'f', parameters: { type: 'object' }, strict: false }],
      tool_choice: { type: 'function', name: 'f' },
      parallel_tool_calls: true,
      reasoning: { effort: 'high' },
      include: ['reasoning.encrypted_content'],
      text: { format: { type: 'json_object' } },
      store: false,
      stream: true,
    });
  });
});
