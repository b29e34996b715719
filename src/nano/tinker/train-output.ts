import type { JsonObject } from '../../core/json.ts';
import type { BatchResult } from '../engine.ts';
import { bytesOf, doubleOf, entryOf, fieldsOf, integerOf, textOf } from './proto-reader.ts';
import { createProtoWriter, rawBytes } from './proto-writer.ts';
import { ProtocolError } from './protocol-error.ts';
import { float32sOf, int64sOf } from './raw-numbers.ts';
import { DTYPE } from './tensor.ts';

const RECORD_NAME = 'ArrayRecord';

/** A ForwardBackwardOutput. All data share one batched tensor, cut at byte offsets. */
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

  const tensor = createProtoWriter();
  tensor.bytes(1, rawBytes(joined));
  tensor.bytes(2, rawBytes(offsets));
  tensor.integer(3, DTYPE.float32);
  const entry = createProtoWriter();
  entry.text(1, 'logprobs');
  entry.message(2, tensor.finish());
  const record = createProtoWriter();
  record.text(1, RECORD_NAME);
  record.message(2, entry.finish());
  record.integer(3, logprobs.length);

  const writer = createProtoWriter();
  writer.text(1, RECORD_NAME);
  writer.message(2, record.finish());
  for (const [name, value] of Object.entries(reducible(metrics))) {
    const metric = createProtoWriter();
    metric.text(1, name);
    metric.double(2, value);
    writer.message(3, metric.finish());
  }
  return writer.finish();
}

/** Reads back what was written above: a stored result is kept in this form. */
export function decodeTrainOutput(message: Uint8Array): BatchResult {
  const logprobs: Float32Array[] = [];
  const metrics: Record<string, number> = {};
  for (const field of fieldsOf(message)) {
    if (field.number === 1) textOf(field);
    else if (field.number === 2) logprobs.push(...decodeRecord(bytesOf(field)));
    else if (field.number === 3) {
      const { key, value } = entryOf(field);
      Object.defineProperty(metrics, key, {
        value: value === undefined ? 0 : doubleOf(value),
        enumerable: true,
        configurable: true,
      });
    }
  }
  return { logprobs, metrics };
}

function decodeRecord(message: Uint8Array): readonly Float32Array[] {
  let rows: readonly Float32Array[] = [];
  for (const field of fieldsOf(message)) {
    if (field.number === 1) textOf(field);
    else if (field.number === 3) integerOf(field);
    if (field.number !== 2) continue;
    const { key, value } = entryOf(field);
    if (key === 'logprobs' && value !== undefined) rows = decodeBatched(bytesOf(value));
  }
  return rows;
}

function decodeBatched(message: Uint8Array): readonly Float32Array[] {
  let data = new Float32Array(0);
  let offsets = new Float64Array(1);
  let dtype = 0;
  for (const field of fieldsOf(message)) {
    if (field.number === 1) data = float32sOf(bytesOf(field)) as Float32Array<ArrayBuffer>;
    else if (field.number === 2) offsets = int64sOf(bytesOf(field)) as Float64Array<ArrayBuffer>;
    else if (field.number === 3) dtype = integerOf(field);
  }
  if (dtype !== DTYPE.float32)
    throw new ProtocolError(`log-probabilities of type ${dtype} are not read here`);
  const rows: Float32Array[] = [];
  for (let i = 0; i + 1 < offsets.length; i++) {
    const start = (offsets[i] ?? 0) / 4;
    const end = (offsets[i + 1] ?? 0) / 4;
    if (
      !(Number.isInteger(start) && Number.isInteger(end) && start >= 0 && start <= end && end <= data.length)
    )
      throw new ProtocolError('a batched tensor has offsets outside of it');
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

/** Clients merge the metrics of several requests by what stands after the colon, and fail where there is none. */
function reducible(metrics: Readonly<Record<string, number>>): Record<string, number> {
  const named = Object.entries(metrics).map(([name, value]): [string, number] => [
    name.split(':').length === 2 ? name : `${name.replaceAll(':', '_')}:mean`,
    value,
  ]);
  return Object.fromEntries(named);
}
