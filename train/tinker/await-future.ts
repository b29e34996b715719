import { sleep } from '../../src/base/sleep.ts';
import type { Clock } from '../../src/core/clock.ts';
import { TrainingError } from '../../src/core/training.ts';
import { backoffMs, jsonCall, type TinkerTimings } from './post.ts';
import type { RequestLimiter } from './request-limiter.ts';
import { judgePoll, type PollVerdict } from './server-replies.ts';
import type { ServerAnswer, Transport } from './transport.ts';

export type FutureOutcome =
  | { readonly kind: 'result'; readonly answer: ServerAnswer }
  | { readonly kind: 'failed'; readonly error: TrainingError }
  /** The server did not answer for too long: the outcome is unknown. */
  | { readonly kind: 'lost'; readonly error: TrainingError }
  /** The server no longer has the result. */
  | { readonly kind: 'expired' }
  | { readonly kind: 'aborted' };

interface FutureRequest {
  readonly id: string;
  /** For the server's logs. */
  readonly route: string;
  /** The result may be protobuf. */
  readonly takesProto: boolean;
  /** The server may announce the result's size first. */
  readonly isAnnounced: boolean;
  readonly signal: AbortSignal;
}

/**
 * Polls until a future is settled. Only one waiter per id: some servers return a result only once. Polling continues while
 * the server answers on any route and does not answer every poll with a server error.
 */
export type AwaitFuture = (request: FutureRequest) => Promise<FutureOutcome>;

interface AwaitFutureOptions {
  readonly transport: Transport;
  readonly pace: TinkerTimings;
  readonly clock: Clock;
  readonly random: () => number;
  /** Limits the results that are read at the same time. */
  readonly results: RequestLimiter;
  readonly log: (line: string) => void;
}

/** Consecutive answers outside of the protocol. */
const MOST_STRANGE = 3;

export function createAwaitFuture(options: AwaitFutureOptions): AwaitFuture {
  const { transport, pace, clock, random, results, log } = options;
  const look = async (request: FutureRequest, iteration: number, isAnnounced: boolean) =>
    transport.send(
      {
        ...jsonCall('retrieve_future', { request_id: request.id, allow_metadata_only: isAnnounced }),
        timeoutMs: pace.pollMs,
        headers: {
          accept: request.takesProto ? 'application/x-protobuf, application/json' : 'application/json',
          'x-tinker-request-iteration': String(iteration),
          'x-tinker-request-type': request.route,
        },
      },
      request.signal,
    );

  return async (request) => {
    const { id, route, signal } = request;
    const explained = (category: TrainingError['category'], detail: string): TrainingError =>
      new TrainingError(category, `${route} ${id}: ${detail}`);
    const failed = (category: TrainingError['category'], detail: string): FutureOutcome => ({
      kind: 'failed',
      error: explained(category, detail),
    });
    let isAnnounced = request.isAnnounced;
    let strange = 0;
    let misses = 0;
    let failingSince = Number.POSITIVE_INFINITY;
    let unpaidMs = 0;
    let told: string | undefined;
    let leave: (() => void) | undefined;
    try {
      for (let iteration = 0; !signal.aborted; iteration++) {
        const asked = clock.monotonic();
        const said = judgePoll(await look(request, iteration, isAnnounced), clock.now());
        const verdict: PollVerdict =
          said.kind === 'announced' && leave !== undefined
            ? { kind: 'strange', detail: 'the result is announced and never sent' }
            : said;
        if (verdict.kind === 'result' || verdict.kind === 'expired' || verdict.kind === 'aborted')
          return verdict;
        if (verdict.kind === 'failed') return failed(verdict.error.category, verdict.error.message);
        if (verdict.kind === 'strange') {
          if (++strange > MOST_STRANGE) return failed('unknown', verdict.detail);
          await sleep(backoffMs(pace, strange, random), signal);
          continue;
        }
        strange = 0;
        failingSince = verdict.kind === 'unheard' ? Math.min(failingSince, asked) : Number.POSITIVE_INFINITY;
        if (verdict.kind === 'pending') {
          misses = 0;
          if (verdict.reason !== undefined && verdict.reason !== told)
            log(`${route} ${id} is queued: ${verdict.reason}`);
          told = verdict.reason ?? told;
          await sleep(pace.lookMs - (clock.monotonic() - asked), signal);
        } else if (verdict.kind === 'announced') {
          isAnnounced = false;
          leave = await results.enter(verdict.bytes, signal);
        } else if (verdict.kind === 'unpaid') {
          if (unpaidMs >= pace.unpaidForMs) return failed('user', 'the server asks for payment (402)');
          const from = clock.monotonic();
          await sleep(pace.unpaidMs, signal);
          unpaidMs += clock.monotonic() - from;
        } else {
          const afterMs = verdict.kind === 'busy' ? verdict.afterMs : undefined;
          await sleep(afterMs ?? backoffMs(pace, misses++, random), signal);
        }
        const now = clock.monotonic();
        if (now - transport.heardAt() > pace.lostAfterMs)
          return { kind: 'lost', error: explained('server', 'the server no longer answers') };
        // Heartbeats may succeed all the same.
        if (verdict.kind === 'unheard' && now - failingSince > pace.lostAfterMs)
          return { kind: 'lost', error: explained('server', `every poll fails: ${verdict.detail}`) };
      }
      return { kind: 'aborted' };
    } finally {
      leave?.();
    }
  };
}
