import { asArray, asNumber, asObject, isObject, type Json, parseJson } from '../../core/json.ts';
import type { StepOutput } from '../../core/training.ts';
import { bytesIn, doubleIn, entryIn, integerIn, type ProtoField, readFields } from './proto-read.ts';
import { bfloat16sIn, float32sIn, int64sIn } from './raw-values.ts';
import { WireError } from './wire-error.ts';

type Rows = readonly (readonly number[])[];

const FLOAT32 = 1;
const BFLOAT16 = 4;

/** A ForwardBackwardOutput in protobuf. Throws a WireError. */
export function decodeProtoTrain(message: Uint8Array): StepOutput {
  const logprobs: (readonly number[])[] = [];
  const losses: (readonly number[])[] = [];
  const metrics = new Map<string, number>();
  for (const field of readFields(message)) {
    if (field.number === 2) {
      const record = decodeRecord(bytesIn(field));
      logprobs.push(...(record.get('logprobs') ?? []));
      losses.push(...(record.get('elementwise_loss') ?? []));
    } else if (field.number === 3) {
      const { key, value } = entryIn(field);
      metrics.set(key, value === undefined ? 0 : doubleIn(value));
    }
  }
  return { logprobs, metrics: withLoss(metrics, losses) };
}

/** The named tensors of an ArrayRecord, cut into one row for each datum. */
function decodeRecord(message: Uint8Array): ReadonlyMap<string, Rows> {
  const fields = new Map<string, Rows>();
  let count = 0;
  for (const field of readFields(message)) {
    if (field.number === 2) {
      const { key, value } = entryIn(field);
      if (value !== undefined && (key === 'logprobs' || key === 'elementwise_loss'))
        fields.set(key, decodeBatched(value));
    } else if (field.number === 3) count = integerIn(field);
  }
  for (const [name, { length }] of fields)
    if (length !== count) throw new WireError(`${name} has ${length} rows for ${count} data`);
  return fields;
}

function decodeBatched(entry: ProtoField): Rows {
  let data = new Uint8Array(0);
  let offsets: readonly number[] = [];
  let dtype = 0;
  for (const field of readFields(bytesIn(entry))) {
    if (field.number === 1) data = bytesIn(field) as Uint8Array<ArrayBuffer>;
    else if (field.number === 2) offsets = int64sIn(bytesIn(field));
    else if (field.number === 3) dtype = integerIn(field);
  }
  if (dtype !== FLOAT32 && dtype !== BFLOAT16)
    throw new WireError(`numbers of type ${dtype} are not read here`);
  const readRow = dtype === FLOAT32 ? float32sIn : bfloat16sIn;
  return offsets.slice(1).map((end, i) => {
    const start = offsets[i] ?? 0;
    if (start < 0 || end < start || end > data.length)
      throw new WireError('a row lies outside of its tensor');
    return readRow(data.subarray(start, end));
  });
}

/** The same in JSON. */
export function decodeJsonTrain(bytes: Uint8Array): StepOutput {
  const body = parseJson(Buffer.from(bytes).toString('utf8'));
  if (!isObject(body) || !Array.isArray(body.loss_fn_outputs))
    throw new WireError('the answer has no loss_fn_outputs');
  const outputs = asArray(body.loss_fn_outputs).map(asObject);
  const rowOf = (tensor: Json | undefined): readonly number[] =>
    // What a server could not write as a number was none; a 0 in its place would be taken for certainty.
    asArray(asObject(tensor).data).map((value) => asNumber(value) ?? Number.NaN);
  const losses = outputs
    .filter((one) => isObject(one.elementwise_loss))
    .map((one) => rowOf(one.elementwise_loss));
  const metrics = Object.entries(asObject(body.metrics)).flatMap(([name, value]): [string, number][] =>
    typeof value === 'number' ? [[name, value]] : [],
  );
  return { logprobs: outputs.map((one) => rowOf(one.logprobs)), metrics: withLoss(new Map(metrics), losses) };
}

/** Some servers give the loss of each token and no sum of it. */
function withLoss(metrics: Map<string, number>, losses: Rows): Readonly<Record<string, number>> {
  if (!metrics.has('loss:sum') && losses.length > 0)
    metrics.set(
      'loss:sum',
      losses.flat().reduce((sum, value) => sum + value, 0),
    );
  return Object.fromEntries(metrics);
}
