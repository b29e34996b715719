import { asString, isObject, parseJson } from '../../core/json.ts';
import type { StreamDecoder } from '../../core/wire.ts';
import { excerpt } from '../excerpt.ts';
import { createMessageReader } from './message-reader.ts';

/** Goes by the `type` in the data: vendors leave the event's name out, or out of step. */
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
