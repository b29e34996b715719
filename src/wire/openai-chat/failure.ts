import { createFailure, type Failure, failureKindOf } from '../../core/failure.ts';
import {
  asArray,
  asObject,
  asString,
  isObject,
  type Json,
  type JsonObject,
  parseJson,
} from '../../core/json.ts';
import { plainTextExcerpt } from '../excerpt.ts';
import { encodeSse } from '../sse.ts';

export function decodeOpenaiFailure(status: number, body: string): Failure {
  const parsed = parseJson(body);
  // Gemini wraps its error in an array.
  const error = errorOf(Array.isArray(parsed) ? parsed[0] : parsed);
  const message =
    wordingOf(parsed) || plainTextExcerpt(body) || `The provider answered with status ${status}.`;
  return describe(status >= 400 ? status : 502, message, error);
}

/** An error body that arrived after a success status: inside a stream or a 200 reply. */
export function decodeOpenaiErrorBody(body: Json): Failure {
  const error = errorOf(body);
  return describe(
    statusOf(error),
    wordingOf(body) || 'The provider ended the reply with an error and no message.',
    error,
  );
}

const FINAL =
  /^(?:insufficient_quota|credit_balance_exhausted|billing_hard_limit_reached|billing_not_active)$/;

function describe(status: number, message: string, error: JsonObject): Failure {
  const code = asString(error.code) || undefined;
  const final = [code, asString(error.type)].some((word) => word !== undefined && FINAL.test(word));
  return createFailure(failureKindOf(status), message, {
    status,
    ...(code === undefined ? {} : { code }),
    ...(final ? { final } : {}),
  });
}

function errorOf(body: Json | undefined): JsonObject {
  const holder = asObject(body);
  return isObject(holder.error) ? holder.error : holder;
}

/**
 * The provider's message: `error.message` (OpenAI), `error` (Ollama), `detail` (FastAPI), `message` (vLLM),
 * `error.metadata.raw` (the message that OpenRouter got from its provider).
 */
function wordingOf(value: Json | undefined, depth = 0): string {
  if (typeof value === 'string') return value;
  if (depth > 4) return '';
  if (Array.isArray(value)) {
    const words = value.slice(0, 8).map((entry) => wordingOf(entry, depth + 1));
    return words.filter((word) => word !== '').join('; ');
  }
  const holder = asObject(value);
  const inside = [
    isObject(holder.error) ? holder.error : undefined,
    holder.message,
    holder.msg,
    holder.detail,
  ];
  for (const place of [...inside, holder.error]) {
    const words = wordingOf(place, depth + 1);
    if (words !== '') return `${placeOf(holder.loc)}${words}${behind(holder.metadata, depth)}`;
  }
  return '';
}

/** FastAPI's path to the invalid member. */
function placeOf(loc: Json | undefined): string {
  const steps = asArray(loc).filter((step) => typeof step === 'string' || typeof step === 'number');
  return steps.length > 0 ? `${steps.join('.')}: ` : '';
}

function behind(metadata: Json | undefined, depth: number): string {
  const raw = asString(asObject(metadata).raw);
  return raw ? `: ${wordingOf(parseJson(raw), depth + 1) || plainTextExcerpt(raw)}` : '';
}

/** The order matters: `invalid_api_key` comes with the type `invalid_request_error`. */
const SIGNS: readonly (readonly [RegExp, number])[] = [
  [/quota|rate_?limit|too_many|exhausted|slow_down/, 429],
  [/api_key|authentication|unauthorized/, 401],
  [/permission|forbidden|unsupported_country/, 403],
  [/not_?found/, 404],
  [/too_large/, 413],
  [/overloaded|unavailable/, 503],
  [/time_?out|timed_out/, 504],
  [/invalid|bad_?request|context|validation/, 400],
];

function statusOf(error: JsonObject): number {
  for (const value of [error.code, error.status, error.status_code]) {
    const status = typeof value === 'number' || typeof value === 'string' ? Number(value) : 0;
    if (Number.isInteger(status) && status >= 400 && status <= 599) return status;
  }
  const words = [error.type, error.code].map((word) => (asString(word) ?? '').slice(0, 100)).join(' ');
  return SIGNS.find(([sign]) => sign.test(words.toLowerCase()))?.[1] ?? 502;
}

export const encodeOpenaiFailure = (failure: Failure): JsonObject => {
  const { type, code } = labelsOf(failure);
  return { error: { message: failure.message, type, param: null, code: failure.code ?? code } };
};

function labelsOf({ status, final }: Failure): { readonly type: string; readonly code: string | null } {
  if (status === 401) return { type: 'invalid_request_error', code: 'invalid_api_key' };
  if (status === 429 && final) return { type: 'insufficient_quota', code: 'insufficient_quota' };
  if (status === 429) return { type: 'rate_limit_error', code: 'rate_limit_exceeded' };
  if (status === 503 || status === 529) {
    return { type: 'service_unavailable_error', code: 'server_is_overloaded' };
  }
  return { type: status >= 500 ? 'server_error' : 'invalid_request_error', code: null };
}

/** No `[DONE]` follows: a reader that ignores the error must not take the reply for complete. */
export const encodeChatStreamFailure = (failure: Failure): string =>
  encodeSse(undefined, JSON.stringify(encodeOpenaiFailure(failure)));
