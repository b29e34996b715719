import type { ChatEvent } from '../../core/chat.ts';
import { createFailure } from '../../core/failure.ts';
import { asObject, asString, isObject, type JsonObject, parseJson } from '../../core/json.ts';
import type { Insertion, Outline, StreamDecoder, StreamEncoder, Wire } from '../../core/wire.ts';
import { type ByteSpan, DOUBLE_QUOTE, equalsText, OPEN_BRACKET, skipValue, viewBytes } from '../json-scan.ts';
import { decodeOpenaiFailure, encodeOpenaiFailure } from '../openai-chat/failure.ts';
import {
  createMessageCount,
  findLeadingMessages,
  insertAfterLeadingMessages,
  type LeadingMessages,
  outlineObject,
} from '../outline.ts';
import { appendJsonText, quoteJson } from '../splice.ts';
import { encodeResponsesEvent, encodeResponsesStreamFailure } from './failure.ts';
import { createResponsesReplyReader } from './reply-reader.ts';
import { createResponsesReplyWriter } from './reply-writer.ts';
import { decodeResponsesRequest, encodeResponsesRequest } from './request.ts';

/** OpenAI's Responses format, which Codex uses. */
export const openaiResponses: Wire = {
  name: 'openai-responses',
  path: '/responses',
  outline: outlineResponses,
  decodeRequest: decodeResponsesRequest,
  encodeRequest: encodeResponsesRequest,
  decodeReply: decodeResponsesReply,
  encodeReply: (events) => encodeResponsesReply(events),
  createStreamDecoder: createResponsesStreamDecoder,
  createStreamEncoder: () => createResponsesStreamEncoder(),
  decodeFailure: decodeOpenaiFailure,
  encodeFailure: encodeOpenaiFailure,
  encodeStreamFailure: (failure) => encodeResponsesStreamFailure(failure),
};

/**
 * A block is appended to `instructions`, else to the last of the leading `system` or `developer` messages of `input`, else
 * inserted before its first item. Input that is a plain string becomes a list of two messages.
 */
export function outlineResponses(
  body: Uint8Array,
  mostMessages = Number.POSITIVE_INFINITY,
): Outline | undefined {
  const bytes = viewBytes(body);
  const count = createMessageCount(mostMessages);
  let instructions: ByteSpan | undefined;
  let items: LeadingMessages | undefined;
  let inputText: ByteSpan | undefined;

  // Codex puts a list of tools with the role `developer` before its messages; the leading messages continue after it.
  const isMessage = (type: ByteSpan | undefined) =>
    !type || equalsText(bytes, type, 'message') || equalsText(bytes, type, 'additional_tools');

  function visitInput(at: number): number {
    items = bytes[at] === OPEN_BRACKET ? findLeadingMessages(bytes, at, isMessage, count) : undefined;
    const end = items ? items.array[1] : skipValue(bytes, at);
    inputText = bytes[at] === DOUBLE_QUOTE ? [at, end] : undefined;
    return end;
  }

  function visit(key: ByteSpan, at: number): number {
    if (equalsText(bytes, key, 'input')) return visitInput(at);
    const end = skipValue(bytes, at);
    if (equalsText(bytes, key, 'instructions'))
      instructions = bytes[at] === DOUBLE_QUOTE ? [at, end] : undefined;
    return end;
  }

  return outlineObject(bytes, count, visit, (block) => {
    const text = quoteJson(block);
    const part = `{"type":"input_text","text":${text}}`;
    const message = `{"type":"message","role":"developer","content":${text}}`;
    const inside = instructions && appendJsonText(bytes, instructions, block, part);
    if (inside) return [inside];
    if (items) return [insertAfterLeadingMessages(bytes, items, block, { part, message })];
    return inputText ? wrapInput(inputText, message) : [];
  });
}

const wrapInput = ([start, end]: ByteSpan, message: string): readonly Insertion[] => [
  { at: start, text: `[${message},{"type":"message","role":"user","content":` },
  { at: end, text: '}]' },
];

function decodeResponsesReply(body: JsonObject): readonly ChatEvent[] {
  const reader = createResponsesReplyReader();
  if (Array.isArray(body.output)) {
    return reader.read('response.completed', { response: body });
  }
  if (body.error !== undefined && body.error !== null) return reader.read('error', body);
  return reader.end(createFailure('upstream-error', 'The provider’s reply has no `output`.'));
}

export function encodeResponsesReply(events: readonly ChatEvent[], now?: () => number): JsonObject {
  const write = createResponsesReplyWriter(now);
  return asObject(events.flatMap(write).at(-1)?.response);
}

function createResponsesStreamDecoder(): StreamDecoder {
  const reader = createResponsesReplyReader();
  return {
    decode({ event, data }) {
      const json = parseJson(data);
      if (!isObject(json)) return [];
      const bare = event ?? (json.error === undefined ? '' : 'error');
      return reader.read(asString(json.type) ?? bare, json);
    },
    end() {
      return reader.end(
        createFailure('truncated', 'The provider closed the stream before the reply was complete.'),
      );
    },
  };
}

export function createResponsesStreamEncoder(now?: () => number): StreamEncoder {
  const write = createResponsesReplyWriter(now);
  let sequence = 0;
  return {
    encode: (event) =>
      write(event)
        .map((written) => encodeResponsesEvent(written, sequence++))
        .join(''),
  };
}
