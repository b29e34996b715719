import type { ChatEvent } from '../../../src/core/chat.ts';
import type { JsonObject } from '../../../src/core/json.ts';

/** A stream as Anthropic's servers send it, from its events. */
export const sse = (...events: readonly JsonObject[]) =>
  events.map((event) => `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`).join('');

export const message = (usage: JsonObject): JsonObject => ({
  type: 'message_start',
  message: {
    id: 'msg_01XFDUDYJgAACzvnptvVoYEL',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4-5-20250929',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  },
});
export const zeros = {
  input_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 0,
};
export const started: ChatEvent = {
  type: 'reply-start',
  id: 'msg_01XFDUDYJgAACzvnptvVoYEL',
  model: 'claude-sonnet-4-5-20250929',
};
export const open = (index: number, content_block: JsonObject) => ({
  type: 'content_block_start',
  index,
  content_block,
});
export const delta = (index: number, change: JsonObject) => ({
  type: 'content_block_delta',
  index,
  delta: change,
});
export const close = (index: number) => ({ type: 'content_block_stop', index });
export const ending = (stop_reason: string | null, usage: JsonObject) => ({
  type: 'message_delta',
  delta: { stop_reason, stop_sequence: null },
  usage,
});
export const stop = { type: 'message_stop' };
export const text = (value: string) => ({ type: 'text_delta', text: value });
export const json = (value: string) => ({ type: 'input_json_delta', partial_json: value });
