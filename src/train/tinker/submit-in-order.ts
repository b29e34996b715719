import { TrainingError } from '../../core/training.ts';
import type { FutureOutcome } from './await-future.ts';
import type { EncodedCall } from './encode-train.ts';
import { createLane } from './lane.ts';
import { resultOf, sendRequest } from './send-request.ts';
import { doneOf, expectMany, type Fate, type SentRequest, type Submitted } from './submitted.ts';
import type { Answer } from './transport.ts';
import type { Wiring } from './wiring.ts';

/** One or several requests that belong together: all are sent, or none. */
export interface Unit<T> {
  readonly route: string;
  /** Called at this unit's turn. Throws when it cannot be sent. */
  readonly parts: () => readonly ((seq: number) => EncodedCall)[];
  readonly isLarge: boolean;
  readonly read: (answers: readonly Answer[]) => T;
}

/** Numbers a model's requests, and sends each when the one before was accepted. */
export interface OrderedRequests {
  submit<T>(unit: Unit<T>, signal: AbortSignal): Submitted<T>;
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

export function createOrderedRequests(wiring: Wiring, firstSeq: number): OrderedRequests {
  const lane = createLane();
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

  const sendUnit = async <T>({ route, parts, isLarge }: Unit<T>): Promise<readonly SentPart[]> => {
    if (broken !== undefined) throw new NotSent([], false, broken);
    const sent: SentPart[] = [];
    for (const encode of parts()) sent.push(await sendPart(route, encode, isLarge, sent));
    return sent;
  };

  const follow = async <T>(unit: Unit<T>, sent: readonly SentPart[]): Promise<Fate<T>> => {
    const outcomes = await Promise.all(sent.map(({ outcome }) => outcome));
    const lost = outcomes.find(({ kind }) => kind !== 'result' && kind !== 'failed');
    try {
      return { kind: 'done', value: unit.read(outcomes.map(resultOf)) };
    } catch (error) {
      const reason = errorOf(error, unit.route);
      const hasPart = outcomes.some(({ kind }) => kind === 'result');
      if (lost !== undefined || (outcomes.length > 1 && hasPart)) breakOff(reason);
      return { kind: lost === undefined ? 'failed' : 'unknown', error: reason };
    }
  };

  const notSent = <T>(error: unknown, route: string): Fate<T> => {
    if (!(error instanceof NotSent)) return { kind: 'not-taken', error: errorOf(error, route) };
    const { parts, isDoubtful, reason } = error;
    if (isDoubtful || parts.length > 0) breakOff(reason);
    return { kind: isDoubtful ? 'unknown' : parts.length > 0 ? 'failed' : 'not-taken', error: reason };
  };

  return {
    get broken() {
      return broken;
    },
    sent: () => lane.enter(() => Promise.resolve(), NEVER).catch(() => undefined),
    submit: <T>(unit: Unit<T>, signal: AbortSignal): Submitted<T> => {
      expectMany(signal);
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

export function errorOf(error: unknown, route: string): TrainingError {
  if (error instanceof TrainingError) return error;
  const detail = error instanceof Error ? error.message : String(error);
  return new TrainingError('server', `${route}: ${detail}`);
}
