import { createFailure, type Failure, failureKindOf } from '../../core/failure.ts';
import { asObject, asString, compact, isObject, type JsonObject, parseJson } from '../../core/json.ts';
import { plainTextExcerpt } from '../excerpt.ts';
import { encodeSse } from '../sse.ts';

const STATUS: ReadonlyMap<string, number> = new Map([
  ['invalid_request_error', 400],
  ['authentication_error', 401],
  ['billing_error', 402],
  ['permission_error', 403],
  ['not_found_error', 404],
  ['request_too_large', 413],
  ['rate_limit_error', 429],
  ['api_error', 500],
  ['timeout_error', 504],
  ['overloaded_error', 529],
]);

const TYPE: ReadonlyMap<number, string> = new Map([
  ...[...STATUS].map(([type, status]) => [status, type] as const),
  [408, 'timeout_error'],
  [503, 'overloaded_error'],
]);

/** Anthropic has no code for a full context, only these words; clients of other wires look for the code. */
const TOO_LONG = /prompt is too long|exceed context limit/i;
const TOO_LONG_CODE = 'context_length_exceeded';

export function decodeAnthropicFailure(status: number, body: string): Failure {
  const parsed = parseJson(body);
  const { message, code } = readError(asObject(parsed));
  const words = message ?? (plainTextExcerpt(body) || `HTTP status ${status}`);
  return createFailure(failureKindOf(status), words, compact({ status, code }));
}

/** An error inside a stream has no HTTP status; its type implies one. */
export function decodeAnthropicStreamFailure(event: JsonObject): Failure {
  const { message, code, type } = readError(event);
  const status = STATUS.get(type ?? '') ?? 500;
  const words = message ?? 'The provider ended the stream with an error and no message';
  return createFailure(failureKindOf(status), words, compact({ status, code }));
}

interface ReadError {
  readonly message: string | undefined;
  readonly type: string | undefined;
  readonly code: string | undefined;
}

/** Servers that imitate Anthropic's format put the message in other places. */
function readError(body: JsonObject): ReadError {
  const error = isObject(body.error) ? body.error : body;
  const given = [error.message, body.error, body.message, body.detail];
  const message = given.find((value): value is string => typeof value === 'string' && value !== '');
  const type = error.type === 'error' ? undefined : asString(error.type);
  const isTooLong = message !== undefined && TOO_LONG.test(message);
  const named = asString(asObject(error.details).error_code) ?? asString(error.code);
  return { message, type, code: named ?? (isTooLong ? TOO_LONG_CODE : type) };
}

export function encodeAnthropicFailure({ status, message, code }: Failure): JsonObject {
  const type = TYPE.get(status) ?? (status >= 500 || status === 499 ? 'api_error' : 'invalid_request_error');
  const isForeign = code === TOO_LONG_CODE && !TOO_LONG.test(message);
  // Agents on this wire compact their history when they find these words.
  return { type: 'error', error: { type, message: isForeign ? `prompt is too long: ${message}` : message } };
}

export const encodeAnthropicStreamFailure = (failure: Failure): string =>
  encodeSse('error', JSON.stringify(encodeAnthropicFailure(failure)));
