import { isObject, parseJson } from '../../core/json.ts';
import type { StreamDecoder } from '../../core/wire.ts';
import { decodeErrorBody } from './failure.ts';
import { createReplyReader, type MakeId } from './reply-reader.ts';

/**
 * The reply ends at `[DONE]`, since the usage comes after the `finish_reason`, or at the end of the stream for the many
 * servers that send no `[DONE]`. Data that is not a JSON object is a vendor's keep-alive and is ignored.
 */
export function createStreamDecoder(makeId?: MakeId): StreamDecoder {
  const reader = createReplyReader(makeId);
  return {
    decode({ event, data }) {
      if (data.trim() === '[DONE]') return reader.finish();
      const chunk = parseJson(data);
      if (event === 'error') return reader.fail(decodeErrorBody(chunk ?? data));
      return isObject(chunk) ? reader.read(chunk) : [];
    },
    end: () => reader.finish(),
  };
}
