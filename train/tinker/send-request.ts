import type { Clock } from '../../src/core/clock.ts';
import { asString, type JsonObject } from '../../src/core/json.ts';
import { type EngineProfile, TrainingError } from '../../src/core/training.ts';
import type { AwaitFuture, FutureOutcome } from './await-future.ts';
import type { Post, PostOutcome, PostRequest, TinkerTimings } from './post.ts';
import type { ServerTraits } from './profiles.ts';
import type { RequestLimiter } from './request-limiter.ts';
import { jsonBodyOf } from './server-replies.ts';
import type { ChunkLimits, EncodedCall } from './train-messages.ts';

/** What the models and samplers of one connection share. */
export interface TinkerConnection {
  readonly profile: EngineProfile;
  readonly traits: ServerTraits;
  readonly session: string;
  readonly post: Post;
  readonly awaitFuture: AwaitFuture;
  readonly chunks: ChunkLimits;
  /** Limits of the training requests and of the sampling requests in flight. */
  readonly training: RequestLimiter;
  readonly sampling: RequestLimiter;
  readonly pace: TinkerTimings;
  readonly clock: Clock;
  /** Aborts when the connection is closed. */
  readonly closing: AbortSignal;
  /** A new idempotency key, unique across processes. */
  readonly nextKey: (route: string) => string;
  readonly log: (line: string) => void;
}

/** A request that a server answers with a future. */
interface FutureCall {
  readonly call: EncodedCall;
  /** Encodes it again, so that no large body is kept while waiting. */
  readonly encode: () => EncodedCall;
  /** Large results may be protobuf and may be announced first. */
  readonly isLarge: boolean;
  /**
   * What to do when the server has lost the future. `same`: send it again under the same idempotency key, so that it is not
   * done twice. `fresh`: send a new request, if it changes nothing. `never`: give up, if it changes something on a server
   * without idempotency.
   */
  readonly redo: 'same' | 'fresh' | 'never';
  readonly signal: AbortSignal;
  readonly options?: Pick<PostRequest, 'before' | 'onHaste' | 'headers'>;
}

type SendOutcome =
  | { readonly kind: 'taken'; readonly requestId: string; readonly outcome: Promise<FutureOutcome> }
  | { readonly kind: 'refused'; readonly status: number; readonly error: TrainingError }
  | { readonly kind: 'in-doubt'; readonly error: TrainingError };

const MOST_REDOS = 2;

export async function sendRequest(wiring: TinkerConnection, ask: FutureCall): Promise<SendOutcome> {
  const { route } = ask.call;
  const key = wiring.nextKey(route);
  const post = async (call: EncodedCall, under: string): Promise<Taken> =>
    taken(
      await wiring.post({ ...ask.options, call, key: under, signal: ask.signal, once: ask.redo === 'never' }),
      route,
    );
  const first = await post(ask.call, key);
  if (first.kind !== 'taken') return first;
  return { ...first, outcome: follow(first.requestId) };

  async function follow(firstId: string): Promise<FutureOutcome> {
    let requestId = firstId;
    for (let redos = 0; ; redos++) {
      const outcome = await wiring.awaitFuture({
        id: requestId,
        route,
        takesProto: ask.isLarge && wiring.profile.wire === 'protobuf',
        isAnnounced: ask.isLarge && wiring.traits.announces,
        signal: ask.signal,
      });
      if (outcome.kind !== 'expired') return outcome;
      if (ask.redo === 'never' || redos >= MOST_REDOS)
        return {
          kind: 'lost',
          error: new TrainingError('server', `${route} ${requestId}: the result has expired`),
        };
      wiring.log(`${route} ${requestId} has expired and is requested again`);
      const again = await post(ask.encode(), ask.redo === 'same' ? key : wiring.nextKey(route));
      if (again.kind !== 'taken') return { kind: 'lost', error: again.error };
      requestId = again.requestId;
    }
  }
}

type Taken = { readonly kind: 'taken'; readonly requestId: string } | Exclude<SendOutcome, { kind: 'taken' }>;

function taken(outcome: PostOutcome, route: string): Taken {
  if (outcome.kind === 'aborted')
    return { kind: 'in-doubt', error: new TrainingError('unknown', `${route}: aborted`) };
  if (outcome.kind !== 'answered') return outcome;
  const requestId = asString(outcome.body.request_id);
  if (requestId === undefined || requestId === '')
    return { kind: 'in-doubt', error: new TrainingError('server', `${route}: the answer names no request`) };
  return { kind: 'taken', requestId };
}

/** Sends a request, waits for its future, and returns its result as JSON. */
export async function requestJson(wiring: TinkerConnection, call: EncodedCall): Promise<JsonObject> {
  const sent = await sendRequest(wiring, {
    call,
    encode: () => call,
    isLarge: false,
    redo: 'same',
    signal: wiring.closing,
  });
  if (sent.kind !== 'taken') throw sent.error;
  return jsonBodyOf(resultOf(await sent.outcome)) ?? {};
}

/** The result, or throws why there is none. */
export function resultOf(outcome: FutureOutcome): Extract<FutureOutcome, { kind: 'result' }>['answer'] {
  if (outcome.kind === 'result') return outcome.answer;
  if (outcome.kind === 'failed' || outcome.kind === 'lost') throw outcome.error;
  throw new TrainingError('unknown', 'aborted');
}
