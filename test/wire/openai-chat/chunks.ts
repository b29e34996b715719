import type { ChatEvent } from '../../../src/core/chat.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import { createChatStreamDecoder } from '../../../src/wire/openai-chat/stream.ts';

/** The events of these chunks and a `[DONE]`, without `reply-start`; generated ids are numbered. */
export function read(...chunks: readonly JsonObject[]): readonly ChatEvent[] {
  let made = 0;
  const decoder = createChatStreamDecoder((prefix) => `${prefix}made${++made}`);
  const events = chunks.flatMap((chunk) => decoder.decode({ event: undefined, data: JSON.stringify(chunk) }));
  return [...events, ...decoder.decode({ event: undefined, data: '[DONE]' })].slice(1);
}
export const delta = (
  members: JsonObject,
  finish: string | null = null,
  more: JsonObject = {},
): JsonObject => ({
  id: 'r',
  model: 'm',
  choices: [{ index: 0, delta: members, finish_reason: finish }],
  ...more,
});
export const call = (members: JsonObject, name?: string, json?: string): JsonObject =>
  delta({ tool_calls: [{ ...members, function: { name, arguments: json } as JsonObject }] });
export const started = (id: string, name: string): ChatEvent => ({ type: 'tool-start', id, name });
export const grown = (id: string, json: string): ChatEvent => ({ type: 'tool-delta', id, json });
export const said = (text: string): ChatEvent => ({ type: 'text-delta', text });
export const thought = (text: string): ChatEvent => ({ type: 'reasoning-delta', text });
export const ended = (stop: 'end' | 'tool-calls' | 'stop-sequence' = 'end'): ChatEvent => ({
  type: 'reply-end',
  stop,
});
