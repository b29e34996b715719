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
 * What a server says went wrong, in whichever of the ways servers have: `error` and a category; `detail`, a text or a
 * list of places; `error_message`. Undefined: the body says nothing of that kind, so it may be a proxy's.
 */
export function failureIn(body: JsonObject, category: TrainingError['category']): TrainingError | undefined {
  const text = asString(body.error) ?? asString(body.error_message) ?? detailOf(body.detail);
  if (text === undefined) return undefined;
  const named = asString(body.category)?.toLowerCase();
  const own = named === undefined ? category : (CATEGORIES.find((one) => one === named) ?? 'unknown');
  return new TrainingError(own, plain(text.slice(0, LONGEST)));
}

/** Frameworks name the place of each mistake in a request. */
function detailOf(detail: Json | undefined): string | undefined {
  if (typeof detail === 'string') return detail;
  if (!Array.isArray(detail)) return undefined;
  return asArray(detail)
    .slice(0, 5)
    .map((one) => `${asArray(asObject(one).loc).join('.')}: ${asString(asObject(one).msg) ?? 'is wrong'}`)
    .join('; ');
}

/** The same with the status, for an answer that cannot be anything but a refusal. */
export function explainRefusal(answer: Answer): TrainingError {
  const category = answer.status < 500 ? 'user' : 'server';
  const failure = failureIn(bodyOf(answer) ?? {}, category);
  if (failure !== undefined)
    return new TrainingError(failure.category, `${failure.message} (${answer.status})`);
  return new TrainingError(category, `the server answered ${answer.status}: ${excerptOf(answer)}`);
}

/** Control characters of a stranger have no place in a log. */
const plain = (text: string): string => text.replace(/\p{Cc}+/gu, ' ').trim();

export const excerptOf = ({ bytes }: Answer): string =>
  plain(Buffer.from(bytes.subarray(0, 200)).toString('utf8'));
