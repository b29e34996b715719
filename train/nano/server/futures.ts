import { DecodeError } from '../../../src/base/decode-error.ts';
import type { Clock } from '../../../src/core/clock.ts';
import { errorMessage } from '../../../src/core/failure.ts';
import { asObject, asString, type JsonObject, parseJson } from '../../../src/core/json.ts';
import { type BatchResult, EngineError, type SampleResult } from '../engine.ts';
import { ProtocolError } from '../tinker/json-fields.ts';
import {
  decodeTrainOutput,
  encodeJsonSampleOutput,
  encodeJsonTrainOutput,
  encodeSampleOutput,
  encodeTrainOutput,
} from '../tinker/output.ts';
import { HttpRefusal, type ReplyPayload } from './http.ts';
import type { JournalRecord } from './model-journal.ts';

/** How a request ended. After a failure of category `user` the client must change the request; after `server` it may retry. */
export type RequestOutcome =
  | { readonly kind: 'json'; readonly body: JsonObject }
  | { readonly kind: 'train'; readonly result: BatchResult }
  | { readonly kind: 'sample'; readonly result: SampleResult }
  | { readonly kind: 'failed'; readonly error: string; readonly category: 'user' | 'server' };

export type FailedOutcome = Extract<RequestOutcome, { kind: 'failed' }>;

export function failureOf(error: unknown): FailedOutcome {
  const isUser = [EngineError, ProtocolError, DecodeError, HttpRefusal].some((kind) => error instanceof kind);
  return {
    kind: 'failed',
    error: errorMessage(error),
    category: isUser ? 'user' : 'server',
  };
}

/** In the encoding that the client accepts. Protobuf is defined for training and sampling results only. */
export function renderOutcome(outcome: RequestOutcome, wantsProto: boolean): ReplyPayload {
  if (wantsProto && outcome.kind === 'train')
    return { type: 'application/x-protobuf', bytes: encodeTrainOutput(outcome.result) };
  if (wantsProto && outcome.kind === 'sample')
    return { type: 'application/x-protobuf', bytes: encodeSampleOutput(outcome.result) };
  return { type: 'application/json', bytes: Buffer.from(JSON.stringify(jsonOf(outcome))) };
}

function jsonOf(outcome: RequestOutcome): JsonObject {
  if (outcome.kind === 'json') return outcome.body;
  if (outcome.kind === 'train') return encodeJsonTrainOutput(outcome.result);
  if (outcome.kind === 'sample') return encodeJsonSampleOutput(outcome.result);
  return { error: outcome.error, category: outcome.category };
}

/** The approximate size in memory. */
function sizeOf(outcome: RequestOutcome): number {
  const numbers =
    outcome.kind === 'train'
      ? outcome.result.logprobs.reduce((sum, row) => sum + row.length, 0)
      : outcome.kind === 'sample'
        ? outcome.result.sequences.reduce((sum, { tokens }) => sum + 2 * tokens.length, 0)
        : 0;
  return 512 + 4 * numbers;
}

/** For the journal, which stores no samples: they are drawn again. */
export function storeOutcome(
  outcome: Exclude<RequestOutcome, { kind: 'sample' }>,
  head: JsonObject,
): JournalRecord {
  if (outcome.kind === 'train') {
    return { head: { ...head, kind: 'train' }, bytes: encodeTrainOutput(outcome.result) };
  }
  return { head: { ...head, kind: outcome.kind }, bytes: Buffer.from(JSON.stringify(jsonOf(outcome))) };
}

export function restoreOutcome({ head, bytes }: JournalRecord): RequestOutcome {
  if (head.kind === 'train') return { kind: 'train', result: decodeTrainOutput(bytes) };
  const body = asObject(parseJson(Buffer.from(bytes).toString('utf8')));
  if (head.kind !== 'failed') return { kind: 'json', body };
  return {
    kind: 'failed',
    error: asString(body.error) ?? 'failed',
    category: body.category === 'user' ? 'user' : 'server',
  };
}

/** The results of requests by request id, pending or settled. */
export interface Futures {
  open(id: string): void;
  settle(id: string, outcome: RequestOutcome): void;
  /** Undefined when the id is unknown or its result is no longer kept. */
  peek(id: string): 'pending' | RequestOutcome | undefined;
  /** The outcome, or `pending` when it is not there after `ms`. Once read, an outcome is kept for `readForMs`. */
  read(id: string, ms: number, signal: AbortSignal): Promise<'pending' | RequestOutcome | undefined>;
  forget(id: string): void;
  sweep(): void;
}

interface Future {
  outcome: RequestOutcome | undefined;
  readAt: number | undefined;
  readonly waiters: Set<() => void>;
}

interface FutureLimits {
  /** How many outcomes, and how many bytes of them, are kept. Those that were read are dropped first, then the oldest. */
  readonly kept: number;
  readonly keptBytes: number;
  /** How long an outcome is kept after it was read: the reply may not have reached the client. */
  readonly readForMs: number;
}

export function createFutures(clock: Clock, limits: FutureLimits): Futures {
  const futures = new Map<string, Future>();
  /** The sizes of settled futures, the oldest first. */
  const settled = new Map<string, number>();
  let bytes = 0;

  const drop = (id: string): void => {
    bytes -= settled.get(id) ?? 0;
    settled.delete(id);
    futures.delete(id);
  };
  const makeRoom = (newest: string): void => {
    if (settled.size <= limits.kept && bytes <= limits.keptBytes) return;
    const isOver = (): boolean => settled.size > limits.kept || bytes > limits.keptBytes;
    for (const id of [...settled.keys()]) {
      if (isOver() && id !== newest && futures.get(id)?.readAt !== undefined) drop(id);
    }
    for (const id of [...settled.keys()]) if (isOver() && id !== newest) drop(id);
  };

  return {
    open: (id) => {
      if (!futures.has(id)) futures.set(id, { outcome: undefined, readAt: undefined, waiters: new Set() });
    },
    settle: (id, outcome) => {
      const future = futures.get(id) ?? { outcome: undefined, readAt: undefined, waiters: new Set() };
      if (future.outcome !== undefined) return;
      futures.set(id, future);
      future.outcome = outcome;
      const size = sizeOf(outcome);
      settled.set(id, size);
      bytes += size;
      for (const wake of [...future.waiters]) wake();
      makeRoom(id);
    },
    peek: (id) => {
      const future = futures.get(id);
      return future === undefined ? undefined : (future.outcome ?? 'pending');
    },
    read: async (id, ms, signal) => {
      const future = futures.get(id);
      if (future === undefined) return undefined;
      if (future.outcome === undefined && !signal.aborted) await changed(future, ms, signal);
      if (future.outcome !== undefined) future.readAt ??= clock.monotonic();
      return future.outcome ?? 'pending';
    },
    forget: drop,
    sweep: () => {
      const before = clock.monotonic() - limits.readForMs;
      for (const id of [...settled.keys()]) {
        const readAt = futures.get(id)?.readAt;
        if (readAt !== undefined && readAt < before) drop(id);
      }
    },
  };
}

function changed({ waiters }: Future, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = (): void => {
      clearTimeout(timer);
      waiters.delete(wake);
      signal.removeEventListener('abort', wake);
      resolve();
    };
    const timer = setTimeout(wake, ms);
    waiters.add(wake);
    signal.addEventListener('abort', wake);
  });
}
