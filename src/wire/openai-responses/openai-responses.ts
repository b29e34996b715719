import type { Wire } from '../../core/wire.ts';
import { decodeFailure, encodeFailure } from '../openai-chat/failure.ts';
import { encodeStreamFailure } from './failure.ts';
import { outlineResponses } from './outline.ts';
import { decodeReply, encodeReply } from './reply.ts';
import { decodeRequest, encodeRequest } from './request.ts';
import { createStreamDecoder } from './stream-decoder.ts';
import { createStreamEncoder } from './stream-encoder.ts';

/** OpenAI's Responses format, which Codex uses. */
export const openaiResponses: Wire = {
  name: 'openai-responses',
  path: '/responses',
  outline: outlineResponses,
  decodeRequest,
  encodeRequest,
  decodeReply,
  encodeReply: (events) => encodeReply(events),
  createStreamDecoder,
  createStreamEncoder: () => createStreamEncoder(),
  decodeFailure,
  encodeFailure,
  encodeStreamFailure: (failure) => encodeStreamFailure(failure),
};
