import { DecodeError } from '../../base/decode-error.ts';
import { asObject, asString, type JsonObject, parseJson } from '../../core/json.ts';
import { type BatchResult, EngineError, type SampleResult } from '../engine.ts';
import { ProtocolError } from '../tinker/protocol-error.ts';
import { encodeJsonSampleOutput, encodeSampleOutput } from '../tinker/sample-output.ts';
import { decodeTrainOutput, encodeJsonTrainOutput, encodeTrainOutput } from '../tinker/train-output.ts';
import type { JournalRecord } from './journal.ts';
import { Refusal } from './refusal.ts';
import type { Payload } from './route.ts';

/** How a request ended. After a failure of category `user` the client must change the request; after `server` it may retry. */
export type Outcome =
  | { readonly kind: 'json'; readonly body: JsonObject }
  | { readonly kind: 'train'; readonly result: BatchResult }
  | { readonly kind: 'sample'; readonly result: SampleResult }
  | { readonly kind: 'failed'; readonly error: string; readonly category: 'user' | 'server' };

export type Failure = Extract<Outcome, { kind: 'failed' }>;

export function failureOf(error: unknown): Failure {
  const isUser = [EngineError, ProtocolError, DecodeError, Refusal].some((kind) => error instanceof kind);
  return {
    kind: 'failed',
    error: error instanceof Error ? error.message : String(error),
    category: isUser ? 'user' : 'server',
  };
}

/** In the encoding that the client accepts. Protobuf is defined for training and sampling results only. */
export function renderOutcome(outcome: Outcome, wantsProto: boolean): Payload {
  if (wantsProto && outcome.kind === 'train')
    return { type: 'application/x-protobuf', bytes: encodeTrainOutput(outcome.result) };
  if (wantsProto && outcome.kind === 'sample')
    return { type: 'application/x-protobuf', bytes: encodeSampleOutput(outcome.result) };
  return { type: 'application/json', bytes: Buffer.from(JSON.stringify(jsonOf(outcome))) };
}

function jsonOf(outcome: Outcome): JsonObject {
  if (outcome.kind === 'json') return outcome.body;
  if (outcome.kind === 'train') return encodeJsonTrainOutput(outcome.result);
  if (outcome.kind === 'sample') return encodeJsonSampleOutput(outcome.result);
  return { error: outcome.error, category: outcome.category };
}

/** The approximate size in memory. */
export function sizeOf(outcome: Outcome): number {
  const numbers =
    outcome.kind === 'train'
      ? outcome.result.logprobs.reduce((sum, row) => sum + row.length, 0)
      : outcome.kind === 'sample'
        ? outcome.result.sequences.reduce((sum, { tokens }) => sum + 2 * tokens.length, 0)
        : 0;
  return 512 + 4 * numbers;
}

/** For the journal, which stores no samples: they are drawn again. */
export function storeOutcome(outcome: Exclude<Outcome, { kind: 'sample' }>, head: JsonObject): JournalRecord {
  if (outcome.kind === 'train') {
    return { head: { ...head, kind: 'train' }, bytes: encodeTrainOutput(outcome.result) };
  }
  return { head: { ...head, kind: outcome.kind }, bytes: Buffer.from(JSON.stringify(jsonOf(outcome))) };
}

export function restoreOutcome({ head, bytes }: JournalRecord): Outcome {
  if (head.kind === 'train') return { kind: 'train', result: decodeTrainOutput(bytes) };
  const body = asObject(parseJson(Buffer.from(bytes).toString('utf8')));
  if (head.kind !== 'failed') return { kind: 'json', body };
  return {
    kind: 'failed',
    error: asString(body.error) ?? 'failed',
    category: body.category === 'user' ? 'user' : 'server',
  };
}
