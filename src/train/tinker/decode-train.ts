import { DecodeError } from '../../base/decode-error.ts';
import { readBfloat16s, readFloat32s, readInt64s } from '../../base/little-endian.ts';
import {
  type ProtobufField,
  protobufBytes,
  protobufDouble,
  protobufEntry,
  protobufFields,
  protobufInteger,
} from '../../base/protobuf.ts';
import { asArray, asNumber, asObject, isObject, type Json, parseJson } from '../../core/json.ts';
import type { StepOutput } from '../../core/training.ts';

type Rows = readonly (readonly number[])[];

const FLOAT32 = 1;
const BFLOAT16 = 4;

/** A ForwardBackwardOutput in protobuf. Throws a DecodeError. */
export function decodeProtoTrain(message: Uint8Array): StepOutput {
  const logprobs: (readonly number[])[] = [];
  const losses: (readonly number[])[] = [];
  const metrics = new Map<string, number>();
  for (const field of protobufFields(message)) {
    if (field.number === 2) {
      const record = decodeRecord(protobufBytes(field));
      logprobs.push(...(record.get('logprobs') ?? []));
      losses.push(...(record.get('elementwise_loss') ?? []));
    } else if (field.number === 3) {
      const { key, value } = protobufEntry(field);
      metrics.set(key, value === undefined ? 0 : protobufDouble(value));
    }
  }
  return { logprobs, metrics: withLoss(metrics, losses) };
}

/** The named tensors of an ArrayRecord, split into one row per datum. */
function decodeRecord(message: Uint8Array): ReadonlyMap<string, Rows> {
  const fields = new Map<string, Rows>();
  let count = 0;
  for (const field of protobufFields(message)) {
    if (field.number === 2) {
      const { key, value } = protobufEntry(field);
      if (value !== undefined && (key === 'logprobs' || key === 'elementwise_loss'))
        fields.set(key, decodeBatched(value));
    } else if (field.number === 3) count = protobufInteger(field);
  }
  for (const [name, { length }] of fields)
    if (length !== count) throw new DecodeError(`${name} has ${length} rows for ${count} data`);
  return fields;
}

function decodeBatched(entry: ProtobufField): Rows {
  let data = new Uint8Array(0);
  let offsets: readonly number[] = [];
  let dtype = 0;
  for (const field of protobufFields(protobufBytes(entry))) {
    if (field.number === 1) data = protobufBytes(field) as Uint8Array<ArrayBuffer>;
    else if (field.number === 2) offsets = Array.from(readInt64s(protobufBytes(field)));
    else if (field.number === 3) dtype = protobufInteger(field);
  }
  if (dtype !== FLOAT32 && dtype !== BFLOAT16)
    throw new DecodeError(`the tensor type ${dtype} is not supported`);
  const readRow = dtype === FLOAT32 ? readFloat32s : readBfloat16s;
  return offsets.slice(1).map((end, i) => {
    const start = offsets[i] ?? 0;
    if (start < 0 || end < start || end > data.length) throw new DecodeError('a row lies outside its tensor');
    return Array.from(readRow(data.subarray(start, end)));
  });
}

/** A ForwardBackwardOutput in JSON. */
export function decodeJsonTrain(bytes: Uint8Array): StepOutput {
  const body = parseJson(Buffer.from(bytes).toString('utf8'));
  if (!isObject(body) || !Array.isArray(body.loss_fn_outputs))
    throw new DecodeError('the answer has no loss_fn_outputs');
  const outputs = asArray(body.loss_fn_outputs).map(asObject);
  const rowOf = (tensor: Json | undefined): readonly number[] =>
    // JSON has no NaN: a 0 in its place would be read as probability 1.
    asArray(asObject(tensor).data).map((value) => asNumber(value) ?? Number.NaN);
  const losses = outputs
    .filter((one) => isObject(one.elementwise_loss))
    .map((one) => rowOf(one.elementwise_loss));
  const metrics = Object.entries(asObject(body.metrics)).flatMap(([name, value]): [string, number][] =>
    typeof value === 'number' ? [[name, value]] : [],
  );
  return { logprobs: outputs.map((one) => rowOf(one.logprobs)), metrics: withLoss(new Map(metrics), losses) };
}

/** Some servers return the loss per token and no sum. */
function withLoss(metrics: Map<string, number>, losses: Rows): Readonly<Record<string, number>> {
  if (!metrics.has('loss:sum') && losses.length > 0)
    metrics.set(
      'loss:sum',
      losses.flat().reduce((sum, value) => sum + value, 0),
    );
  return Object.fromEntries(metrics);
}
