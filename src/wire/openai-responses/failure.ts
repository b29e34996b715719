import type { Failure } from '../../core/failure.ts';
import { asString, isObject, type Json, type JsonObject } from '../../core/json.ts';
import { decodeOpenaiErrorBody, encodeOpenaiFailure } from '../openai-chat/failure.ts';
import { encodeSse } from '../sse.ts';
import { encodeResponse } from './response-object.ts';

const PAUSE = /try again in\s*(\d+(?:\.\d+)?)\s*(ms|s|m)/i;
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };

/** The wording of providers that have no code for a full context. */
const TOO_LONG = /prompt is too long|maximum context|context (?:length|window|size)/i;

/** An error inside a stream or a reply, without an HTTP status and a Retry-After header. */
export function decodeStreamError(body: JsonObject): Failure {
  const error = isObject(body.error) ? { status: body.status, ...body.error } : body;
  // A policy refusal is the same on every try.
  const refused = /policy/.test(asString(error.code) ?? '') ? { status: 400 } : {};
  const failure = decodeOpenaiErrorBody({ error: { ...error, ...refused } });
  const [, amount, unit] = PAUSE.exec(failure.message.slice(0, 2000)) ?? [];
  if (failure.kind !== 'rate-limited' || failure.final || unit === undefined) return failure;
  return { ...failure, retryAfterMs: Math.round(Number(amount) * (UNIT_MS[unit.toLowerCase()] ?? 0)) };
}

/** Both events are sent: the official SDKs raise at `error`, Codex ends its turn at `response.failed`. */
export function encodeFailureEvents(
  failure: Failure,
  reply: { readonly id: string; readonly model: string; readonly createdAt: number },
): readonly JsonObject[] {
  const error = { code: codeOf(failure), message: failure.message };
  return [
    { type: 'error', error: encodeOpenaiFailure(failure).error as Json },
    { type: 'response.failed', response: encodeResponse({ ...reply, status: 'failed', error }) },
  ];
}

/**
 * Codex retries a turn after every code except a few, so a request that can never succeed must get one of those. A code
 * that ends in `_error` is the name of an error type on another wire.
 */
function codeOf(failure: Failure): string {
  if (failure.code !== undefined && !failure.code.endsWith('_error')) return failure.code;
  if (failure.kind === 'rate-limited') return failure.final ? 'insufficient_quota' : 'rate_limit_exceeded';
  if (failure.kind === 'bad-request' && TOO_LONG.test(failure.message)) return 'context_length_exceeded';
  const isPermanent = ['bad-request', 'unauthorized', 'forbidden', 'not-found', 'too-large'].includes(
    failure.kind,
  );
  return isPermanent ? 'invalid_prompt' : 'server_error';
}

export function encodeResponsesStreamFailure(failure: Failure, now: () => number = Date.now): string {
  const reply = { id: 'resp_0', model: '', createdAt: Math.floor(now() / 1000) };
  return encodeFailureEvents(failure, reply).map(encodeResponsesEvent).join('');
}

/** One event with its sequence number. */
export const encodeResponsesEvent = (event: JsonObject, sequence_number: number): string =>
  encodeSse(String(event.type), JSON.stringify({ ...event, sequence_number }));
