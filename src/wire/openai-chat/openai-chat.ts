import type { Outline, Wire } from '../../core/wire.ts';
import { type ByteSpan, equalsText, OPEN_BRACKET, skipValue, viewBytes } from '../json-scan.ts';
import {
  createMessageCount,
  findLeadingMessages,
  insertAfterLeadingMessages,
  type LeadingMessages,
  outlineObject,
} from '../outline.ts';
import { quoteJson } from '../splice.ts';
import { decodeOpenaiFailure, encodeChatStreamFailure, encodeOpenaiFailure } from './failure.ts';
import { decodeChatReply, encodeChatReply } from './reply.ts';
import { decodeChatRequest, encodeChatRequest } from './request.ts';
import { createChatStreamDecoder, createChatStreamEncoder } from './stream.ts';

export const openaiChat: Wire = {
  name: 'openai-chat',
  path: '/chat/completions',
  outline: outlineChat,
  decodeRequest: decodeChatRequest,
  encodeRequest: encodeChatRequest,
  decodeReply: (body) => decodeChatReply(body),
  encodeReply: (events) => encodeChatReply(events),
  createStreamDecoder: () => createChatStreamDecoder(),
  createStreamEncoder: (request) => createChatStreamEncoder(request),
  decodeFailure: decodeOpenaiFailure,
  encodeFailure: encodeOpenaiFailure,
  encodeStreamFailure: encodeChatStreamFailure,
};

/** A block is appended to the last of the leading `system` or `developer` messages, else inserted before the first message. */
export function outlineChat(body: Uint8Array, mostMessages = Number.POSITIVE_INFINITY): Outline | undefined {
  const bytes = viewBytes(body);
  const count = createMessageCount(mostMessages);
  let messages: LeadingMessages | undefined;

  function visit(key: ByteSpan, at: number): number {
    if (!equalsText(bytes, key, 'messages')) return skipValue(bytes, at);
    messages = bytes[at] === OPEN_BRACKET ? findLeadingMessages(bytes, at, () => true, count) : undefined;
    return messages ? messages.array[1] : skipValue(bytes, at);
  }

  return outlineObject(bytes, count, visit, (block) => {
    if (!messages) return [];
    const text = quoteJson(block);
    const part = `{"type":"text","text":${text}}`;
    const message = `{"role":"system","content":${text}}`;
    return [insertAfterLeadingMessages(bytes, messages, block, { part, message })];
  });
}
