import type { Outline, Wire } from '../../core/wire.ts';
import { type ByteSpan, equalsText, OPEN_BRACKET, skipValue, viewBytes } from '../json-scan.ts';
import { createMessageCount, eachMessage, outlineObject } from '../outline.ts';
import { appendJsonText, prependJsonItem, quoteJson } from '../splice.ts';
import { decodeAnthropicFailure, encodeAnthropicFailure, encodeAnthropicStreamFailure } from './failure.ts';
import { decodeAnthropicReply, encodeAnthropicReply } from './reply.ts';
import { decodeAnthropicRequest, encodeAnthropicRequest } from './request.ts';
import { createAnthropicStreamDecoder, createAnthropicStreamEncoder } from './stream.ts';

/** Anthropic's Messages format. */
export const anthropic: Wire = {
  name: 'anthropic',
  path: '/messages',
  outline: outlineAnthropic,
  decodeRequest: decodeAnthropicRequest,
  encodeRequest: encodeAnthropicRequest,
  decodeReply: decodeAnthropicReply,
  encodeReply: encodeAnthropicReply,
  createStreamDecoder: createAnthropicStreamDecoder,
  createStreamEncoder: createAnthropicStreamEncoder,
  decodeFailure: decodeAnthropicFailure,
  encodeFailure: encodeAnthropicFailure,
  encodeStreamFailure: encodeAnthropicStreamFailure,
};

/** A block is appended to `system`, after the client's cache marks, so that the cached prefix stays the same. */
export function outlineAnthropic(
  body: Uint8Array,
  mostMessages = Number.POSITIVE_INFINITY,
): Outline | undefined {
  const bytes = viewBytes(body);
  const count = createMessageCount(mostMessages);
  let system: ByteSpan | undefined;

  function visit(key: ByteSpan, at: number): number {
    if (bytes[at] === OPEN_BRACKET && equalsText(bytes, key, 'messages'))
      return eachMessage(bytes, at, count, (elementAt) => skipValue(bytes, elementAt));
    const end = skipValue(bytes, at);
    if (equalsText(bytes, key, 'system')) system = [at, end];
    return end;
  }

  return outlineObject(bytes, count, visit, (block, object) => {
    const text = quoteJson(block);
    if (system === undefined) return [prependJsonItem(bytes, object, `"system":${text}`)];
    const inside = appendJsonText(bytes, system, block, `{"type":"text","text":${text}}`);
    return inside ? [inside] : [];
  });
}
