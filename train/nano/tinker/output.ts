import { readFloat32s, readInt64s, toBytes } from '../../../src/base/little-endian.ts';
import {
  createProtobufWriter,
  protobufBytes,
  protobufDouble,
  protobufEntry,
  protobufFields,
  protobufInteger,
  protobufText,
} from '../../../src/base/protobuf.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import type { BatchResult, SampleResult } from '../engine.ts';
import { ProtocolError } from './json-fields.ts';
import { DTYPE } from './train-request.ts';

const RECORD_NAME = 'ArrayRecord';

/** A ForwardBackwardOutput. All data share one batched tensor, split at byte offsets. */
export function encodeTrainOutput({ logprobs, metrics }: BatchResult): Uint8Array {
  const offsets = new BigInt64Array(logprobs.length + 1);
  let values = 0;
  logprobs.forEach(({ length }, i) => {
    values += length;
    offsets[i + 1] = BigInt(values * 4);
  });
  const joined = new Float32Array(values);
  logprobs.forEach((row, i) => {
    joined.set(row, Number(offsets[i]) / 4);
  });

  const tensor = createProtobufWriter();
  tensor.bytes(1, toBytes(joined));
  tensor.bytes(2, toBytes(offsets));
  tensor.integer(3, DTYPE.float32);
  const record = createProtobufWriter();
  record.text(1, RECORD_NAME);
  record.entry(2, 'logprobs', tensor.finish());
  record.integer(3, logprobs.length);

  const writer = createProtobufWriter();
  writer.text(1, RECORD_NAME);
  writer.message(2, record.finish());
  for (const [name, value] of Object.entries(reducible(metrics))) writer.entry(3, name, value);
  return writer.finish();
}

/** The inverse: results are stored in this form. */
export function decodeTrainOutput(message: Uint8Array): BatchResult {
  const logprobs: Float32Array[] = [];
  const metrics: Record<string, number> = {};
  for (const field of protobufFields(message)) {
    if (field.number === 1) protobufText(field);
    else if (field.number === 2) logprobs.push(...decodeRecord(protobufBytes(field)));
    else if (field.number === 3) {
      const { key, value } = protobufEntry(field);
      Object.defineProperty(metrics, key, {
        value: value === undefined ? 0 : protobufDouble(value),
        enumerable: true,
        configurable: true,
      });
    }
  }
  return { logprobs, metrics };
}

function decodeRecord(message: Uint8Array): readonly Float32Array[] {
  let rows: readonly Float32Array[] = [];
  for (const field of protobufFields(message)) {
    if (field.number === 1) protobufText(field);
    else if (field.number === 3) protobufInteger(field);
    if (field.number !== 2) continue;
    const { key, value } = protobufEntry(field);
    if (key === 'logprobs' && value !== undefined) rows = decodeBatched(protobufBytes(value));
  }
  return rows;
}

function decodeBatched(message: Uint8Array): readonly Float32Array[] {
  let data = new Float32Array(0);
  let offsets = new Float64Array(1);
  let dtype = 0;
  for (const field of protobufFields(message)) {
    if (field.number === 1) data = readFloat32s(protobufBytes(field));
    else if (field.number === 2) offsets = readInt64s(protobufBytes(field));
    else if (field.number === 3) dtype = protobufInteger(field);
  }
  if (dtype !== DTYPE.float32)
    throw new ProtocolError(`log-probabilities of type ${dtype} are not supported`);
  const rows: Float32Array[] = [];
  for (let i = 0; i + 1 < offsets.length; i++) {
    const start = (offsets[i] ?? 0) / 4;
    const end = (offsets[i + 1] ?? 0) / 4;
    if (
      !(Number.isInteger(start) && Number.isInteger(end) && start >= 0 && start <= end && end <= data.length)
    )
      throw new ProtocolError('a batched tensor has offsets out of range');
    rows.push(data.slice(start, end));
  }
  return rows;
}

export function encodeJsonTrainOutput({ logprobs, metrics }: BatchResult): JsonObject {
  return {
    loss_fn_output_type: RECORD_NAME,
    loss_fn_outputs: logprobs.map((row) => ({
      logprobs: { data: Array.from(row), dtype: 'float32', shape: [row.length] },
    })),
    metrics: reducible(metrics),
  };
}

/** Clients merge the metrics of several requests by the suffix after the colon, and fail without one. */
function reducible(metrics: Readonly<Record<string, number>>): Record<string, number> {
  const named = Object.entries(metrics).map(([name, value]): [string, number] => [
    name.split(':').length === 2 ? name : `${name.replaceAll(':', '_')}:mean`,
    value,
  ]);
  return Object.fromEntries(named);
}

export const STOP_REASONS = ['stop', 'length'] as const;

/** A SampleResponse. A prompt token without a log-probability has NaN. */
export function encodeSampleOutput({ sequences, promptLogprobs }: SampleResult): Uint8Array {
  const writer = createProtobufWriter();
  for (const { tokens, logprobs, stop } of sequences) {
    const sequence = createProtobufWriter();
    sequence.integer(1, STOP_REASONS.indexOf(stop));
    sequence.bytes(2, toBytes(tokens));
    sequence.message(3, toBytes(logprobs));
    writer.message(1, sequence.finish());
  }
  if (promptLogprobs !== undefined) writer.message(2, toBytes(promptLogprobs));
  return writer.finish();
}

export function encodeJsonSampleOutput({ sequences, promptLogprobs }: SampleResult): JsonObject {
  return {
    type: 'sample',
    sequences: sequences.map(({ tokens, logprobs, stop }) => ({
      stop_reason: stop,
      tokens: Array.from(tokens),
      logprobs: Array.from(logprobs),
    })),
    ...(promptLogprobs === undefined
      ? {}
      : { prompt_logprobs: Array.from(promptLogprobs, (value) => (Number.isNaN(value) ? null : value)) }),
    prompt_cache_hit_tokens: 0,
  };
}
