import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { WireError } from '../../../src/core/wire.ts';
import { openaiResponses as wire } from '../../../src/wire/openai-responses/openai-responses.ts';

const decode = (body: JsonObject) => wire.decodeRequest({ model: 'm', input: 'hi', ...body });

describe('an invalid Responses request', () => {
  it.each<[string, JsonObject]>([
    ['model', { model: 7 }],
    ['input', { input: null }],
    ['input[0]', { input: ['hi'] }],
    [
      'input[1].role',
      {
        input: [
          { role: 'user', content: 'a' },
          { role: 'tool', content: 'b' },
        ],
      },
    ],
    ['input[0].content', { input: [{ role: 'user', content: null }] }],
    [
      'input[0].content[1].type',
      { input: [{ role: 'user', content: [{ type: 'input_text', text: 'a' }, { type: 'input_audio' }] }] },
    ],
    ['input[0].content[0].text', { input: [{ role: 'user', content: [{ type: 'input_text' }] }] }],
    [
      'input[0].content[0].image_url',
      { input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }] },
    ],
    [
      'input[0].content[0].file_data',
      { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'f' }] }] },
    ],
    ['input[0].call_id', { input: [{ type: 'function_call', name: 'f', arguments: '{}' }] }],
    ['input[0].arguments', { input: [{ type: 'function_call', call_id: 'c', name: 'f', arguments: {} }] }],
    ['tools[1].name', { tools: [{ type: 'web_search' }, { type: 'function' }] }],
    [
      'tools[0].tools[0].parameters',
      { tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'f', parameters: [] }] }] },
    ],
    ['tool_choice', { tools: [{ type: 'function', name: 'f' }], tool_choice: 'maybe' }],
    ['temperature', { temperature: 'hot' }],
    ['reasoning.effort', { reasoning: { effort: 3 } }],
    ['text.format.schema', { text: { format: { type: 'json_schema', name: 'n' } } }],
    ['text.format.type', { text: { format: { type: 'xml' } } }],
    ['stream', { stream: 'yes' }],
  ])('is refused with the name of its invalid member %s', (field, body) => {
    expect(() => decode(body)).toThrow(WireError);
    expect(() => decode(body)).toThrow(new RegExp(`^${field.replace(/[[\].]/g, '\\$&')}: `));
  });

  it('is refused with advice when its history is stored at the provider (not silently shortened)', () => {
    for (const body of [
      { previous_response_id: 'resp_0' },
      { conversation: 'conv_1' },
      { prompt: { id: 'p' } },
    ]) {
      expect(() => decode(body)).toThrow(/send the whole history in `input` \(with `store: false`\)/);
    }
  });
});
