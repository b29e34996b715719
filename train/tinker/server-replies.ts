import {
  asArray,
  asNumber,
  asObject,
  asString,
  isObject,
  type Json,
  type JsonObject,
  parseJson,
} from '../../src/core/json.ts';
import { parseRetryAfter } from '../../src/core/retry.ts';
import { TrainingError } from '../../src/core/training.ts';
import type { ServerAnswer, TinkerReply } from './transport.ts';

const LONGEST = 500;
const CATEGORIES = ['user', 'server'] as const;

export const jsonBodyOf = ({ type, bytes }: ServerAnswer): JsonObject | undefined => {
  if (type === 'protobuf') return undefined;
  const value = parseJson(Buffer.from(bytes).toString('utf8'));
  return isObject(value) ? value : undefined;
};

/**
 * The error in a server's answer, in any of the formats in use: `error` with a category; `detail`, a text or a list of
 * locations; `error_message`. Undefined: the body has none of these, so it may come from a proxy.
 */
function failureIn(body: JsonObject, category: TrainingError['category']): TrainingError | undefined {
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
export function explainRefusal(answer: ServerAnswer): TrainingError {
  const category = answer.status < 500 ? 'user' : 'server';
  const failure = failureIn(jsonBodyOf(answer) ?? {}, category);
  if (failure !== undefined)
    return new TrainingError(failure.category, `${failure.message} (${answer.status})`);
  return new TrainingError(category, `the server answered ${answer.status}: ${excerptOf(answer)}`);
}

/** Control characters of a foreign server must not get into a log. */
const plain = (text: string): string => text.replace(/\p{Cc}+/gu, ' ').trim();

const excerptOf = ({ bytes }: ServerAnswer): string =>
  plain(Buffer.from(bytes.subarray(0, 200)).toString('utf8'));

/** The longest pause that a server can ask for. */
const LONGEST_MS = 60_000;

/** How long the server asks us to wait, by `retry-after-ms` or `retry-after`. */
function retryAfterOf(answer: ServerAnswer, nowMs: number): number | undefined {
  const exact = Number(answer.header('retry-after-ms') ?? Number.NaN);
  const wanted =
    Number.isFinite(exact) && exact >= 0 ? exact : parseRetryAfter(answer.header('retry-after'), nowMs);
  return wanted === undefined ? undefined : Math.min(wanted, LONGEST_MS);
}

/** What the immediate answer to a request means: it contains a future's id, or the result itself. */
type SubmissionVerdict =
  | { readonly kind: 'answered'; readonly body: JsonObject }
  /** Not accepted, and never will be. */
  | { readonly kind: 'refused'; readonly status: number; readonly error: TrainingError }
  /** Not accepted, but may be later. */
  | {
      readonly kind: 'later';
      readonly why: 'haste' | 'conflict' | 'away';
      readonly detail: string;
      readonly afterMs: number | undefined;
    }
  | { readonly kind: 'unpaid' }
  /** It may have been accepted. */
  | { readonly kind: 'in-doubt'; readonly detail: string; readonly afterMs: number | undefined }
  | { readonly kind: 'aborted' };

export function judgeSubmission(reply: TinkerReply, nowMs: number): SubmissionVerdict {
  if (reply.kind === 'none') {
    if (reply.why === 'aborted') return { kind: 'aborted' };
    const { detail } = reply;
    if (reply.why === 'unreachable') return { kind: 'later', why: 'away', detail, afterMs: undefined };
    return { kind: 'in-doubt', detail, afterMs: undefined };
  }
  const { status } = reply;
  const afterMs = retryAfterOf(reply, nowMs);
  const detail = `the server answered ${status}`;
  if (status >= 200 && status < 300) {
    // Most routes answer with an object; some with an empty body.
    const body = reply.bytes.length === 0 ? {} : jsonBodyOf(reply);
    if (body !== undefined) return { kind: 'answered', body };
    return { kind: 'in-doubt', detail: `not JSON: ${excerptOf(reply)}`, afterMs };
  }
  if (status === 402) return { kind: 'unpaid' };
  const wish = reply.header('x-should-retry');
  if (wish === 'false') return { kind: 'refused', status, error: explainRefusal(reply) };
  if (status === 429) return { kind: 'later', why: 'haste', detail, afterMs };
  // A conflict may be a short-lived lock.
  if (status === 409) return { kind: 'later', why: 'conflict', detail, afterMs };
  if (status === 503) return { kind: 'later', why: 'away', detail, afterMs };
  if (wish === 'true' || status === 408 || status >= 500) return { kind: 'in-doubt', detail, afterMs };
  return { kind: 'refused', status, error: explainRefusal(reply) };
}

/** What the answer to one poll of a future means. */
export type PollVerdict =
  | { readonly kind: 'result'; readonly answer: ServerAnswer }
  /** Not done yet. */
  | { readonly kind: 'pending'; readonly reason: string | undefined }
  /** Done, with a result of this size: to be requested when there is room. */
  | { readonly kind: 'announced'; readonly bytes: number }
  | { readonly kind: 'failed'; readonly error: TrainingError }
  /** The server no longer has it: the request must be made again. */
  | { readonly kind: 'expired' }
  | { readonly kind: 'unpaid' }
  | { readonly kind: 'busy'; readonly afterMs: number | undefined }
  /** No answer, or a server error. Nothing is known about the future. */
  | { readonly kind: 'unheard'; readonly detail: string }
  /** Outside of the protocol, perhaps a proxy's answer: worth a few more polls. */
  | { readonly kind: 'strange'; readonly detail: string }
  | { readonly kind: 'aborted' };

/**
 * TuFT answers for a failed future with the status of its reason: 408 when its turn never came, 409 when its number was used
 * before, 429 when there was no room. Only the text distinguishes it from a failed poll.
 */
const FAILED_FUTURE = /^(Future failed|Failed to retrieve future): /;
const BORROWED = new Set([408, 409, 422, 429, 503]);

/**
 * Servers agree on the format of a result but not of a failure: 200 with `error` (Tinker, and verl with its own categories),
 * 400 with `detail` (SkyRL), 400 with `error_message` (open-rl), any status with `detail` (TuFT). All of these are final. A
 * 400 with none of them comes from a proxy.
 */
export function judgePoll(reply: TinkerReply, nowMs: number): PollVerdict {
  if (reply.kind === 'none') {
    if (reply.why === 'aborted') return { kind: 'aborted' };
    if (reply.why === 'too-large')
      return { kind: 'failed', error: new TrainingError('server', reply.detail) };
    // Servers may hold a poll longer than we wait: a time-out is normal.
    if (reply.why === 'timeout') return { kind: 'pending', reason: undefined };
    return { kind: 'unheard', detail: reply.detail };
  }
  const { status } = reply;
  const body = jsonBodyOf(reply) ?? {};
  if (BORROWED.has(status) && FAILED_FUTURE.test(asString(body.detail) ?? ''))
    return { kind: 'failed', error: failureIn(body, 'unknown') ?? explainRefusal(reply) };
  if (status === 408) return { kind: 'pending', reason: asString(body.queue_state_reason) };
  if (status === 429) return { kind: 'busy', afterMs: retryAfterOf(reply, nowMs) };
  if (status === 402) return { kind: 'unpaid' };
  if (status === 410) return { kind: 'expired' };
  if (status >= 500) return { kind: 'unheard', detail: `the server answered ${status}` };
  if (status === 400) {
    const error = failureIn(body, 'unknown');
    return error === undefined
      ? { kind: 'strange', detail: `400: ${excerptOf(reply)}` }
      : { kind: 'failed', error };
  }
  if (status >= 300) return { kind: 'failed', error: explainRefusal(reply) };
  return judgeSuccess(reply);
}

function judgeSuccess(answer: ServerAnswer): PollVerdict {
  if (answer.type === 'protobuf') return { kind: 'result', answer };
  const body = jsonBodyOf(answer);
  if (body === undefined) return { kind: 'strange', detail: `not JSON: ${excerptOf(answer)}` };
  if (body.type === 'try_again') return { kind: 'pending', reason: asString(body.queue_state_reason) };
  if (body.status === 'complete_metadata')
    return { kind: 'announced', bytes: Math.max(0, asNumber(body.response_payload_size) ?? 0) };
  const error = typeof body.error === 'string' || typeof body.error_message === 'string';
  const failure = error ? failureIn(body, 'unknown') : undefined;
  return failure === undefined ? { kind: 'result', answer } : { kind: 'failed', error: failure };
}
