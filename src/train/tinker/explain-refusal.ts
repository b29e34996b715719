import {
  asArray,
  asObject,
  asString,
  isObject,
  type Json,
  type JsonObject,
  parseJson,
} from '../../core/json.ts';
import { TrainingError } from '../../core/training.ts';
import type { Answer } from './transport.ts';

const LONGEST = 500;
const CATEGORIES = ['user', 'server'] as const;

export const bodyOf = ({ type, bytes }: Answer): JsonObject | undefined => {
  if (type === 'protobuf') return undefined;
  const value = parseJson(Buffer.from(bytes).toString('utf8'));
  return isObject(value) ? value : undefined;
};

/**
 * The error in a server's answer, in any of the formats in use: `error` with a category; `detail`, a text or a list of
 * locations; `error_message`. Undefined: the body has none of these, so it may come from a proxy.
 */
export function failureIn(body: JsonObject, category: TrainingError['category']): TrainingError | undefined {
  const text = asString(body.error) ?? asString(body.error_message) ?? detailOf(body.detail);
  if (text === undefined) return undefined;
  const named = asString(body.category)?.toLowerCase();
  const own = named === undefined ? category : (CATEGORIES.find((one) => one === named) ?? 'unknown');
  return new TrainingError(own, plain(text.slice(0, LONGEST)));
}

/** Frameworks list the location of each mistake in a request. */
function detailOf(detail: Json | undefined): string | undefined {
  if (typeof detail === 'string') return detail;
  if (!Array.isArray(detail)) return undefined;
  return asArray(detail)
    .slice(0, 5)
    .map((one) => `${asArray(asObject(one).loc).join('.')}: ${asString(asObject(one).msg) ?? 'is wrong'}`)
    .join('; ');
}

/** The error with the HTTP status, for an answer that is a refusal in any case. */
export function explainRefusal(answer: Answer): TrainingError {
  const category = answer.status < 500 ? 'user' : 'server';
  const failure = failureIn(bodyOf(answer) ?? {}, category);
  if (failure !== undefined)
    return new TrainingError(failure.category, `${failure.message} (${answer.status})`);
  return new TrainingError(category, `the server answered ${answer.status}: ${excerptOf(answer)}`);
}

/** Control characters of a foreign server must not get into a log. */
const plain = (text: string): string => text.replace(/\p{Cc}+/gu, ' ').trim();

export const excerptOf = ({ bytes }: Answer): string =>
  plain(Buffer.from(bytes.subarray(0, 200)).toString('utf8'));
