import type { JsonObject } from '../../core/json.ts';
import type { TrainingError } from '../../core/training.ts';
import { bodyOf, excerptOf, explainRefusal } from './explain-refusal.ts';
import { retryAfterOf } from './retry-after.ts';
import type { Reply } from './transport.ts';

/** What the immediate answer to a request means: it contains a future's id, or the result itself. */
export type SubmissionVerdict =
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

export function judgeSubmission(reply: Reply, nowMs: number): SubmissionVerdict {
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
    const body = reply.bytes.length === 0 ? {} : bodyOf(reply);
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
