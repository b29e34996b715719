import type { Clock } from '../../core/clock.ts';
import type { JsonObject } from '../../core/json.ts';
import { TrainingError } from '../../core/training.ts';
import type { EncodedCall } from './encode-train.ts';
import { explainRefusal } from './explain-refusal.ts';
import { judgeSubmission } from './judge-submission.ts';
import { backoffOf, type Pace } from './pace.ts';
import { sleep } from './sleep.ts';
import type { Transport } from './transport.ts';

/** How a request ended that was tried until it was answered, or for as long as is allowed. */
export type PostOutcome =
  | { readonly kind: 'answered'; readonly body: JsonObject }
  | { readonly kind: 'refused'; readonly status: number; readonly error: TrainingError }
  /** Nobody knows whether the server took it. */
  | { readonly kind: 'in-doubt'; readonly error: TrainingError }
  | { readonly kind: 'aborted' };

export interface PostRequest {
  readonly call: EncodedCall;
  /** The same for all tries, so that a server that took it and could not say so does it once. */
  readonly key: string;
  readonly signal: AbortSignal;
  /** When nobody knows whether it was taken, it is not sent again. */
  readonly once?: boolean;
  /** It is tried for so long; as submissions are, unless said. */
  readonly forMs?: number;
  /** Waited for before each try. */
  readonly before?: (signal: AbortSignal) => Promise<void>;
  /** It was refused because too much came at once. */
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

/** A conflict that is still there after so many tries is not a lock. */
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
      // A server that took it and then refuses to take it twice has taken it.
      if (verdict.kind === 'refused') return giveUp(verdict.status, verdict.error);
      if (verdict.kind === 'unpaid') {
        if (unpaidMs >= pace.unpaidForMs) return failed('the bill is unpaid');
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
