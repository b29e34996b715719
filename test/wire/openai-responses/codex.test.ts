import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { openaiResponses as wire } from '../../../src/wire/openai-responses/openai-responses.ts';

const PATCH = '*** Begin Patch\n*** Update File: a "b".ts\n@@\n-\tö\\n\n+👩‍🚀\n*** End Patch\n';

/** The shape of what Codex 0.166 sends, its texts shortened. */
const CODEX: JsonObject = {
  model: 'gpt-6.1-sol',
  stream: true,
  input: [
    {
      type: 'additional_tools',
      id: 'at_1',
      role: 'developer',
      tools: [
        {
          type: 'namespace',
          name: 'functions',
          description: '',
          tools: [
            {
              type: 'custom',
              name: 'exec',
              description: 'Run JavaScript',
              format: { type: 'grammar', syntax: 'lark', definition: '\nstart: SOURCE\n' },
            },
            {
              type: 'function',
              name: 'wait',
              description: 'Waits',
              strict: false,
              parameters: { type: 'object' },
            },
          ],
        },
        {
          type: 'namespace',
          name: 'clock',
          description: 'Tools for time.',
          tools: [
            {
              type: 'function',
              name: 'sleep',
              description: 'Pause',
              strict: false,
              parameters: { type: 'object' },
            },
          ],
        },
      ],
    },
    {
      type: 'message',
      id: 'msg_1',
      role: 'developer',
      content: [{ type: 'input_text', text: 'You are Codex' }],
    },
    { type: 'message', id: 'msg_2', role: 'developer', content: [{ type: 'input_text', text: '<skills>' }] },
    { type: 'message', id: 'msg_3', role: 'user', content: [{ type: 'input_text', text: 'Say hi' }] },
    { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'enc' },
    { type: 'custom_tool_call', id: 'ctc_1', status: 'completed', call_id: 'c1', name: 'exec', input: PATCH },
    {
      type: 'function_call',
      id: 'fc_1',
      call_id: 'c2',
      name: 'sleep',
      namespace: 'clock',
      arguments: '{"ms":1}',
    },
    { type: 'custom_tool_call_output', call_id: 'c1', output: [{ type: 'input_text', text: 'done' }] },
    { type: 'function_call_output', call_id: 'c2', output: 'slept' },
    {
      type: 'agent_message',
      author: '/root/a',
      recipient: '/root',
      content: [{ type: 'input_text', text: 'report' }],
    },
  ],
  tool_choice: 'auto',
  parallel_tool_calls: false,
  reasoning: { effort: 'low', context: 'all_turns' },
  store: false,
  include: ['reasoning.encrypted_content'],
  prompt_cache_key: '01a1dd17',
  text: { verbosity: 'low' },
  client_metadata: { session_id: '01a1dd17' },
};

describe('a decoded Codex request', () => {
  const request = wire.decodeRequest(CODEX);

  it('has the tools of its input, a freeform tool as a function with one string parameter', () => {
    expect(request.tools.map((tool) => tool.name)).toEqual(['exec', 'wait', 'sleep__in__clock']);
    expect(request.tools[0]).toEqual({
      name: 'exec',
      description: 'Run JavaScript\n\nThe input must match this lark grammar:\nstart: SOURCE',
      parameters: {
        type: 'object',
        properties: {
          freeform_input: { type: 'string', description: 'The whole input of the tool, as plain text.' },
        },
        required: ['freeform_input'],
        additionalProperties: false,
      },
    });
  });

  it('has the leading developer messages as system prompt', () => {
    expect(request.system.map((part) => part.text)).toEqual(['You are Codex', '<skills>']);
  });

  it('keeps freeform and namespaced calls of the history with their results', () => {
    expect(request.messages.slice(1)).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: '', signature: 'enc' },
          { type: 'tool-call', id: 'c1', name: 'exec', arguments: JSON.stringify({ freeform_input: PATCH }) },
          { type: 'tool-call', id: 'c2', name: 'sleep__in__clock', arguments: '{"ms":1}' },
        ],
      },
      { role: 'tool', callId: 'c1', content: [{ type: 'text', text: 'done' }] },
      { role: 'tool', callId: 'c2', content: [{ type: 'text', text: 'slept' }] },
      { role: 'user', content: [{ type: 'text', text: 'report' }] },
    ]);
    expect(request).toMatchObject({ effort: 'low', parallelTools: false, toolChoice: 'auto', stream: true });
    expect(request.user).toBeUndefined();
  });
});
