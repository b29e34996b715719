import { sleep } from '../../base/sleep.ts';
import type { Clock } from '../../core/clock.ts';
import type { JsonObject } from '../../core/json.ts';
import { TrainingError } from '../../core/training.ts';
import type { EncodedCall } from './encode-train.ts';
import { explainRefusal } from './explain-refusal.ts';
import { judgeSubmission } from './judge-submission.ts';
import { backoffOf, type Pace } from './pace.ts';
import type { Transport } from './transport.ts';

/** The outcome of a request that was retried until it was answered or the time ran out. */
export type PostOutcome =
  | { readonly kind: 'answered'; readonly body: JsonObject }
  | { readonly kind: 'refused'; readonly status: number; readonly error: TrainingError }
  /** The server may or may not have accepted it. */
  | { readonly kind: 'in-doubt'; readonly error: TrainingError }
  | { readonly kind: 'aborted' };

export interface PostRequest {
  readonly call: EncodedCall;
  /** The idempotency key, the same for all tries: a server whose answer was lost does the work once. */
  readonly key: string;
  readonly signal: AbortSignal;
  /** Do not send it again when it may have been accepted. */
  readonly once?: boolean;
  /** How long it is retried; as a submission by default. */
  readonly forMs?: number;
  /** Awaited before each try. */
  readonly before?: (signal: AbortSignal) => Promise<void>;
  /** Called on 429. */
  readonly onHaste?: () => void;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Post = (request: PostRequest) => Promise<PostOutcome>;

export interface PostOptions {
  readonly transport: Transport;
  readonly pace: Pace;
  readonly clock: Clock;
  readonly random: () => number;
}

/** A conflict that persists after this many tries is not a lock. */
const MOST_CONFLICTS = 3;

export const jsonCall = (route: string, body: object): EncodedCall => ({
  route,
  type: 'application/json',
  bytes: Buffer.from(JSON.stringify(body)),
});

export function createPost({ transport, pace, clock, random }: PostOptions): Post {
  return async ({ call, key, signal, once = false, before, onHaste, headers, forMs = pace.submitForMs }) => {
    const started = clock.monotonic();
    let unpaidMs = 0;
    let conflicts = 0;
    let isDoubtful = false;
    const giveUp = (status: number, error: TrainingError): PostOutcome =>
      isDoubtful ? { kind: 'in-doubt', error } : { kind: 'refused', status, error };
    const failed = (detail: string): PostOutcome =>
      giveUp(0, new TrainingError('server', `${call.route}: ${detail}`));

    for (let tries = 0; ; tries++) {
      await before?.(signal);
      const retries = { 'x-idempotency-key': key, 'x-stainless-retry-count': String(tries) };
      const timeoutMs = pace.requestMs;
      const reply = await transport.send({ ...call, timeoutMs, headers: { ...headers, ...retries } }, signal);
      const verdict = judgeSubmission(reply, clock.now());
      if (verdict.kind === 'answered' || verdict.kind === 'aborted') return verdict;
      // A refusal after a doubtful try may mean that the first try was accepted.
      if (verdict.kind === 'refused') return giveUp(verdict.status, verdict.error);
      if (verdict.kind === 'unpaid') {
        if (unpaidMs >= pace.unpaidForMs) return failed('the server asks for payment (402)');
        const from = clock.monotonic();
        await sleep(pace.unpaidMs, signal);
        unpaidMs += clock.monotonic() - from;
        continue;
      }
      if (verdict.kind === 'in-doubt') {
        isDoubtful = true;
        if (once) return failed(verdict.detail);
      } else if (verdict.why === 'haste') onHaste?.();
      else if (verdict.why === 'conflict' && ++conflicts > MOST_CONFLICTS && reply.kind === 'answer')
        return giveUp(reply.status, explainRefusal(reply));
      const pause = verdict.afterMs ?? backoffOf(pace, tries, random);
      if (clock.monotonic() - started - unpaidMs + pause > forMs) return failed(verdict.detail);
      await sleep(pause, signal);
    }
  };
}
