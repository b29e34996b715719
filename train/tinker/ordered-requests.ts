import { setMaxListeners } from 'node:events';
import { errorMessage } from '../../src/core/failure.ts';
import { type Pending, TrainingError } from '../../src/core/training.ts';
import type { FutureOutcome } from './await-future.ts';
import { resultOf, sendRequest, type TinkerConnection } from './send-request.ts';
import type { EncodedCall } from './train-messages.ts';
import type { ServerAnswer } from './transport.ts';

/** A request that the server accepted. */
interface SentRequest {
  readonly route: string;
  readonly seq: number;
  /** The future's id, by which its outcome can be looked up later. */
  readonly requestId: string;
}

/** The final outcome of a submission. */
type RequestFate<T> =
  | { readonly kind: 'done'; readonly value: T }
  /** The server accepted it and failed, wholly or in part. */
  | { readonly kind: 'failed'; readonly error: TrainingError }
  /** The server did not accept it: nothing has changed. */
  | { readonly kind: 'not-taken'; readonly error: TrainingError }
  /** It may have been done. */
  | { readonly kind: 'unknown'; readonly error: TrainingError };

/**
 * `done` rejects at once when the signal aborts; the work on the server continues. `fate` waits for its end and never
 * rejects: after a pause it tells whether the step was made, so that it is not made twice.
 */
export interface Submitted<T> extends Pending<T> {
  readonly fate: Promise<RequestFate<T>>;
  /** The accepted requests; empty when none was. Never rejects. */
  readonly sent: Promise<readonly SentRequest[]>;
}

/** Many requests listen to one signal and stop listening when they end: no leak to warn about. */
export const allowManyListeners = (signal: AbortSignal): void => setMaxListeners(0, signal);

/** The `done` promise of a fate, which the signal can reject early. */
function doneOf<T>(fate: Promise<RequestFate<T>>, signal: AbortSignal): Promise<T> {
  const done = new Promise<T>((resolve, reject) => {
    const leave = (): void => reject(new TrainingError('unknown', 'aborted'));
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    void fate.then((end) => {
      signal.removeEventListener('abort', leave);
      if (end.kind === 'done') resolve(end.value);
      else reject(end.error);
    });
  });
  // Two requests are often submitted before either is awaited: an unhandled rejection would end the process.
  done.catch(() => undefined);
  return done;
}

/**
 * Sends requests one after another, in order: the next when the one before was accepted. When one is not accepted, those
 * behind it are not sent either, because they depend on it: an optimizer step without its gradients would still move the
 * weights.
 */
interface RequestQueue {
  /** Rejects without running `send` when the signal aborts before its turn. Once started, `send` runs to its end. */
  enter<T>(send: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

function createRequestQueue(): RequestQueue {
  const waiting: { readonly run: () => Promise<void>; readonly drop: (error: TrainingError) => void }[] = [];
  let isRunning = false;

  const dropAll = (): void => {
    const behind = waiting.splice(0);
    for (const { drop } of behind)
      drop(new TrainingError('unknown', 'not sent, because a request before it was not accepted'));
  };
  const pump = async (): Promise<void> => {
    isRunning = true;
    // Requests that are queued in the same tick are all queued before the first is sent.
    await Promise.resolve();
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await next.run();
    isRunning = false;
  };

  return {
    enter: (send, signal) =>
      new Promise((resolve, reject) => {
        const drop = (error: TrainingError): void => {
          signal.removeEventListener('abort', leave);
          reject(error);
        };
        const entry = {
          run: async () => {
            signal.removeEventListener('abort', leave);
            await send().then(resolve, (error: unknown) => {
              dropAll();
              reject(error);
            });
          },
          drop,
        };
        const withdraw = (): void => reject(new TrainingError('unknown', 'aborted before it was sent'));
        const leaveFirst = (): void => {
          dropAll();
          withdraw();
        };
        const leave = (): void => {
          const place = waiting.indexOf(entry);
          const behind = waiting.splice(place);
          withdraw();
          for (const other of behind.slice(1))
            other.drop(new TrainingError('unknown', 'not sent, because a request before it was aborted'));
        };
        if (signal.aborted) waiting.push({ run: async () => leaveFirst(), drop });
        else {
          signal.addEventListener('abort', leave, { once: true });
          waiting.push(entry);
        }
        if (!isRunning) void pump();
      }),
  };
}

/** One or several requests that belong together: all are sent, or none. */
interface RequestUnit<T> {
  readonly route: string;
  /** Called at this unit's turn. Throws when it cannot be sent. */
  readonly parts: () => readonly ((seq: number) => EncodedCall)[];
  readonly isLarge: boolean;
  readonly read: (answers: readonly ServerAnswer[]) => T;
}

/** Numbers a model's requests, and sends each when the one before was accepted. */
interface OrderedRequests {
  submit<T>(unit: RequestUnit<T>, signal: AbortSignal): Submitted<T>;
  /** Resolves when everything submitted so far was sent or dropped. */
  sent(): Promise<void>;
  /** Why no more can be sent. */
  readonly broken: TrainingError | undefined;
}

interface SentPart extends SentRequest {
  readonly outcome: Promise<FutureOutcome>;
}

const NEVER = new AbortController().signal;

/** Why a unit was not sent, or only in part. */
class NotSent extends Error {
  override readonly name = 'NotSent';
  readonly parts: readonly SentPart[];
  readonly isDoubtful: boolean;
  readonly reason: TrainingError;

  constructor(parts: readonly SentPart[], isDoubtful: boolean, reason: TrainingError) {
    super(reason.message);
    this.parts = parts;
    this.isDoubtful = isDoubtful;
    this.reason = reason;
  }
}

export function createOrderedRequests(wiring: TinkerConnection, firstSeq: number): OrderedRequests {
  const lane = createRequestQueue();
  let seq = firstSeq;
  let broken: TrainingError | undefined;
  const breakOff = (error: TrainingError): void => {
    broken ??= new TrainingError(
      'server',
      `${error.message}; the model's state since its last save is uncertain, so open it again from there`,
    );
  };

  const sendPart = async (
    route: string,
    encode: (seq: number) => EncodedCall,
    isLarge: boolean,
    before: readonly SentPart[],
  ): Promise<SentPart> => {
    const number = seq;
    const call = encode(number);
    const signal = wiring.closing;
    const leave = await wiring.training.enter(call.bytes.length, signal);
    if (leave === undefined)
      throw new NotSent(before, false, new TrainingError('unknown', 'the connection was closed'));
    const again = (): EncodedCall => encode(number);
    const redo = wiring.traits.knowsRepeats ? 'same' : 'never';
    const sent = await sendRequest(wiring, { call, encode: again, isLarge, redo, signal });
    if (sent.kind !== 'taken') {
      leave();
      throw new NotSent(before, sent.kind === 'in-doubt', sent.error);
    }
    // The number of a refused request is used for the next: servers wait for a missing number.
    seq = number + 1;
    const { requestId } = sent;
    return { route, seq: number, requestId, outcome: sent.outcome.finally(leave) };
  };

  const sendUnit = async <T>({ route, parts, isLarge }: RequestUnit<T>): Promise<readonly SentPart[]> => {
    if (broken !== undefined) throw new NotSent([], false, broken);
    const sent: SentPart[] = [];
    for (const encode of parts()) sent.push(await sendPart(route, encode, isLarge, sent));
    return sent;
  };

  const follow = async <T>(unit: RequestUnit<T>, sent: readonly SentPart[]): Promise<RequestFate<T>> => {
    const outcomes = await Promise.all(sent.map(({ outcome }) => outcome));
    const lost = outcomes.find(({ kind }) => kind !== 'result' && kind !== 'failed');
    try {
      return { kind: 'done', value: unit.read(outcomes.map(resultOf)) };
    } catch (error) {
      const reason = toTrainingError(error, unit.route);
      const hasPart = outcomes.some(({ kind }) => kind === 'result');
      if (lost !== undefined || (outcomes.length > 1 && hasPart)) breakOff(reason);
      return { kind: lost === undefined ? 'failed' : 'unknown', error: reason };
    }
  };

  const notSent = <T>(error: unknown, route: string): RequestFate<T> => {
    if (!(error instanceof NotSent)) return { kind: 'not-taken', error: toTrainingError(error, route) };
    const { parts, isDoubtful, reason } = error;
    if (isDoubtful || parts.length > 0) breakOff(reason);
    return { kind: isDoubtful ? 'unknown' : parts.length > 0 ? 'failed' : 'not-taken', error: reason };
  };

  return {
    get broken() {
      return broken;
    },
    sent: () => lane.enter(() => Promise.resolve(), NEVER).catch(() => undefined),
    submit: <T>(unit: RequestUnit<T>, signal: AbortSignal): Submitted<T> => {
      allowManyListeners(signal);
      const lined = lane.enter(() => sendUnit(unit), signal);
      const fate = lined.then(
        (sent) => follow(unit, sent),
        (error: unknown) => notSent<T>(error, unit.route),
      );
      const sent = lined.then(
        (parts) => parts.map(({ route, seq, requestId }) => ({ route, seq, requestId })),
        () => [],
      );
      return { fate, sent, done: doneOf(fate, signal) };
    },
  };
}

export function toTrainingError(error: unknown, route: string): TrainingError {
  if (error instanceof TrainingError) return error;
  const detail = errorMessage(error);
  return new TrainingError('server', `${route}: ${detail}`);
}
