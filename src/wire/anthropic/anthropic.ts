import type { Wire } from '../../core/wire.ts';
import { decodeFailure, encodeFailure, encodeStreamFailure } from './failure.ts';
import { outlineAnthropic } from './outline.ts';
import { decodeReply, encodeReply } from './reply.ts';
import { decodeRequest, encodeRequest } from './request.ts';
import { createStreamDecoder } from './stream-decoder.ts';
import { createStreamEncoder } from './stream-encoder.ts';

/** Anthropic's Messages format. */
export const anthropic: Wire = {
  name: 'anthropic',
  path: '/messages',
  outline: outlineAnthropic,
  decodeRequest,
  encodeRequest,
  decodeReply,
  encodeReply,
  createStreamDecoder,
  createStreamEncoder,
  decodeFailure,
  encodeFailure,
  encodeStreamFailure,
};
