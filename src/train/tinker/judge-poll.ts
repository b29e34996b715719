import { asNumber, asString } from '../../core/json.ts';
import { TrainingError } from '../../core/training.ts';
import { bodyOf, excerptOf, explainRefusal, failureIn } from './explain-refusal.ts';
import { retryAfterOf } from './retry-after.ts';
import type { Answer, Reply } from './transport.ts';

/** What the answer to one poll of a future means. */
export type PollVerdict =
  | { readonly kind: 'result'; readonly answer: Answer }
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
export function judgePoll(reply: Reply, nowMs: number): PollVerdict {
  if (reply.kind === 'none') {
    if (reply.why === 'aborted') return { kind: 'aborted' };
    if (reply.why === 'too-large')
      return { kind: 'failed', error: new TrainingError('server', reply.detail) };
    // Servers may hold a poll longer than we wait: a time-out is normal.
    if (reply.why === 'timeout') return { kind: 'pending', reason: undefined };
    return { kind: 'unheard', detail: reply.detail };
  }
  const { status } = reply;
  const body = bodyOf(reply) ?? {};
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

function judgeSuccess(answer: Answer): PollVerdict {
  if (answer.type === 'protobuf') return { kind: 'result', answer };
  const body = bodyOf(answer);
  if (body === undefined) return { kind: 'strange', detail: `not JSON: ${excerptOf(answer)}` };
  if (body.type === 'try_again') return { kind: 'pending', reason: asString(body.queue_state_reason) };
  if (body.status === 'complete_metadata')
    return { kind: 'announced', bytes: Math.max(0, asNumber(body.response_payload_size) ?? 0) };
  const error = typeof body.error === 'string' || typeof body.error_message === 'string';
  const failure = error ? failureIn(body, 'unknown') : undefined;
  return failure === undefined ? { kind: 'result', answer } : { kind: 'failed', error: failure };
}
