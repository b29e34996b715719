import { sleep } from '../../src/base/sleep.ts';
import type { Clock } from '../../src/core/clock.ts';
import type { JsonObject } from '../../src/core/json.ts';
import { TrainingError } from '../../src/core/training.ts';
import { explainRefusal, judgeSubmission } from './server-replies.ts';
import type { EncodedCall } from './train-messages.ts';
import type { Transport } from './transport.ts';

/** Time-outs and intervals of the client. The official client's values where it has them. */
export interface TinkerTimings {
  readonly heartbeatMs: number;
  /** After this long without a successful heartbeat it is logged. */
  readonly silenceMs: number;
  /** Time-out of one submission. */
  readonly requestMs: number;
  /** Time-out of one poll; servers hold it for a while. */
  readonly pollMs: number;
  /** The shortest interval between polls: not every server holds them. */
  readonly lookMs: number;
  /** The first pause between tries; it doubles up to `longestMs`. */
  readonly backoffMs: number;
  readonly longestMs: number;
  /** How long a submission is retried. */
  readonly submitForMs: number;
  /** How long an optional request is retried. */
  readonly adviceForMs: number;
  /** A result is given up after the server has not answered for this long. */
  readonly lostAfterMs: number;
  /** The interval of retries after 402 (payment required), and their total time. */
  readonly unpaidMs: number;
  readonly unpaidForMs: number;
  /** The pause of all sampling after a 429; longer when the prompt was large. */
  readonly restMs: number;
}

export const DEFAULT_TIMINGS: TinkerTimings = {
  heartbeatMs: 10_000,
  silenceMs: 120_000,
  requestMs: 60_000,
  pollMs: 45_000,
  lookMs: 50,
  backoffMs: 500,
  longestMs: 30_000,
  submitForMs: 300_000,
  adviceForMs: 10_000,
  lostAfterMs: 600_000,
  unpaidMs: 5_000,
  unpaidForMs: 3_600_000,
  restMs: 1_000,
};

/** Exponential backoff with jitter on half of it, so that clients do not retry in lockstep. */
export function backoffMs(
  { backoffMs, longestMs }: TinkerTimings,
  tries: number,
  random: () => number,
): number {
  const pause = Math.min(longestMs, backoffMs * 2 ** Math.min(tries, 30));
  return pause / 2 + (random() * pause) / 2;
}

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

interface PostOptions {
  readonly transport: Transport;
  readonly pace: TinkerTimings;
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
      const pause = verdict.afterMs ?? backoffMs(pace, tries, random);
      if (clock.monotonic() - started - unpaidMs + pause > forMs) return failed(verdict.detail);
      await sleep(pause, signal);
    }
  };
}
