import { createFailure } from '../../core/failure.ts';
import { asString, isObject, parseJson } from '../../core/json.ts';
import type { StreamDecoder } from '../../core/wire.ts';
import { createReplyReader } from './reply-reader.ts';

export function createStreamDecoder(): StreamDecoder {
  const reader = createReplyReader();
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
