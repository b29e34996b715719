import type { ChatEvent } from '../../core/chat.ts';
import { createFailure } from '../../core/failure.ts';
import { asObject, type JsonObject } from '../../core/json.ts';
import { createReplyReader } from './reply-reader.ts';
import { createReplyWriter } from './reply-writer.ts';

export function decodeReply(body: JsonObject): readonly ChatEvent[] {
  const reader = createReplyReader();
  if (Array.isArray(body.output)) {
    return reader.read('response.completed', { response: body });
  }
  if (body.error !== undefined && body.error !== null) return reader.read('error', body);
  return reader.end(createFailure('upstream-error', 'The provider’s reply has no `output`.'));
}

export function encodeReply(events: readonly ChatEvent[], now?: () => number): JsonObject {
  const write = createReplyWriter(now);
  return asObject(events.flatMap(write).at(-1)?.response);
}
