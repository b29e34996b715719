import type { Wire } from '../../core/wire.ts';
import { decodeFailure, encodeFailure, encodeStreamFailure } from './failure.ts';
import { outlineChat } from './outline.ts';
import { decodeReply, encodeReply } from './reply.ts';
import { decodeRequest, encodeRequest } from './request.ts';
import { createStreamDecoder } from './stream-decoder.ts';
import { createStreamEncoder } from './stream-encoder.ts';

export const openaiChat: Wire = {
  name: 'openai-chat',
  path: '/chat/completions',
  outline: outlineChat,
  decodeRequest,
  encodeRequest,
  decodeReply: (body) => decodeReply(body),
  encodeReply: (events) => encodeReply(events),
  createStreamDecoder: () => createStreamDecoder(),
  createStreamEncoder: (request) => createStreamEncoder(request),
  decodeFailure,
  encodeFailure,
  encodeStreamFailure,
};
