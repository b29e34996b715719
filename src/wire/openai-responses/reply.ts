import type { ChatEvent } from '../../core/chat.ts';
import { createFailure } from '../../core/failure.ts';
import { asObject, asString, isObject, type JsonObject, parseJson } from '../../core/json.ts';
import type { StreamDecoder, StreamEncoder } from '../../core/wire.ts';
import { encodeResponsesEvent } from './failure.ts';
import { createResponsesReplyReader } from './reply-reader.ts';
import { createResponsesReplyWriter } from './reply-writer.ts';

export function decodeResponsesReply(body: JsonObject): readonly ChatEvent[] {
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

export function createResponsesStreamDecoder(): StreamDecoder {
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
