import { asString, isObject, parseJson } from '../../core/json.ts';
import type { StreamDecoder } from '../../core/wire.ts';
import { excerpt } from '../excerpt.ts';
import { createMessageReader } from './message-reader.ts';

/** Uses the `type` in the data, since some vendors omit the event's name or send a wrong one. */
export function createStreamDecoder(): StreamDecoder {
  const reader = createMessageReader();
  return {
    decode({ event, data }) {
      const body = parseJson(data);
      if (isObject(body)) {
        const isError = event === 'error' || (body.type === undefined && body.error !== undefined);
        return reader.read(isError ? 'error' : (asString(body.type) ?? event), body);
      }
      return event === 'error' ? reader.read('error', { message: excerpt(data) }) : [];
    },
    end: reader.end,
  };
}
