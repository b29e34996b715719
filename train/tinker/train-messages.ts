import { DecodeError } from '../../src/base/decode-error.ts';
import {
  readBfloat16s,
  readFloat32s,
  readInt32s,
  readInt64s,
  toBytes,
} from '../../src/base/little-endian.ts';
import {
  createProtobufWriter,
  type ProtobufField,
  protobufBytes,
  protobufDouble,
  protobufEntry,
  protobufFields,
  protobufInteger,
} from '../../src/base/protobuf.ts';
import { asArray, asNumber, asObject, compact, isObject, type Json, parseJson } from '../../src/core/json.ts';
import type {
  EngineProfile,
  SampledSequence,
  StepInput,
  StepOutput,
  TrainDatum,
} from '../../src/core/training.ts';

export type WireKind = EngineProfile['wire'];

type EncodingProfile = Pick<EngineProfile, 'reduction' | 'inputs' | 'readsTypedConfig'>;

/** A forward or forward_backward request with one chunk of data. */
interface TrainCall {
  readonly modelId: string;
  readonly seq: number;
  readonly input: StepInput;
  readonly forwardOnly: boolean;
}

/** A request body and its route. */
export interface EncodedCall {
  readonly route: string;
  /** POST by default. */
  readonly method?: 'GET';
  readonly type: 'application/json' | 'application/x-protobuf';
  readonly bytes: Uint8Array;
}

interface NamedTensor {
  readonly name: string;
  readonly dtype: 'int64' | 'float32';
  readonly values: readonly number[];
}

const DTYPE = { float32: 1, int64: 2 } as const;

/**
 * Only the tensors that the loss reads: servers refuse others. Where token losses are summed, weights are multiplied into
 * the advantages. Where each sequence is divided by the sum of its weights, they must be sent: else the prompt's length
 * would count too.
 */
function tensorsOf(
  datum: TrainDatum,
  loss: StepInput['loss'],
  profile: EncodingProfile,
): readonly NamedTensor[] {
  const { targets, weights, advantages = [], logprobs = [] } = datum;
  const floats = (name: string, values: readonly number[]): NamedTensor => ({
    name,
    dtype: 'float32',
    values,
  });
  const target: NamedTensor = { name: 'target_tokens', dtype: 'int64', values: targets };
  const isSummed = profile.reduction === 'sum';
  const tensors =
    loss === 'cross_entropy'
      ? [target, floats('weights', weights)]
      : isSummed
        ? [
            target,
            floats('logprobs', logprobs),
            floats(
              'advantages',
              advantages.map((value, i) => value * (weights[i] ?? 0)),
            ),
          ]
        : [
            target,
            floats('logprobs', logprobs),
            floats('advantages', advantages),
            floats('weights', weights),
          ];
  return tensors.filter(({ name }) => profile.inputs.includes(name));
}

export function encodeTrainCall(call: TrainCall, wire: WireKind, profile: EncodingProfile): EncodedCall {
  return wire === 'protobuf' ? encodeProto(call, profile) : encodeJson(call, profile);
}

function encodeJson({ modelId, seq, input, forwardOnly }: TrainCall, profile: EncodingProfile): EncodedCall {
  const step = compact({
    data: input.data.map((datum) => ({
      model_input: { chunks: [{ type: 'encoded_text', tokens: datum.tokens }] },
      loss_fn_inputs: Object.fromEntries(
        tensorsOf(datum, input.loss, profile).map(({ name, dtype, values }) => [
          name,
          { data: values, dtype, shape: [values.length] },
        ]),
      ),
    })),
    loss_fn: input.loss,
    loss_fn_config: input.config,
  });
  const body = forwardOnly ? { forward_input: step } : { forward_backward_input: step };
  return {
    route: forwardOnly ? 'forward' : 'forward_backward',
    type: 'application/json',
    bytes: Buffer.from(JSON.stringify({ ...body, model_id: modelId, seq_id: seq })),
  };
}

function encodeProto({ modelId, seq, input, forwardOnly }: TrainCall, profile: EncodingProfile): EncodedCall {
  const request = createProtobufWriter();
  request.text(1, modelId);
  request.integer(2, seq);
  for (const one of input.data) {
    const text = createProtobufWriter();
    text.message(1, toBytes(Int32Array.from(one.tokens)));
    const chunk = createProtobufWriter();
    chunk.message(1, text.finish());
    const datum = createProtobufWriter();
    datum.message(1, chunk.finish());
    for (const { name, dtype, values } of tensorsOf(one, input.loss, profile)) {
      const tensor = createProtobufWriter();
      tensor.message(
        1,
        toBytes(dtype === 'int64' ? BigInt64Array.from(values, BigInt) : Float32Array.from(values)),
      );
      tensor.integer(3, DTYPE[dtype]);
      tensor.packed(4, [values.length]);
      datum.entry(2, name, tensor.finish());
    }
    request.message(3, datum.finish());
  }
  request.text(4, input.loss);
  for (const [name, value] of Object.entries(input.config ?? {})) request.entry(5, name, value);
  request.integer(6, forwardOnly ? 1 : 0);
  // In addition to the plain map, as the official client writes it: servers use this one where they know it.
  if (profile.readsTypedConfig === true)
    for (const [name, value] of Object.entries(input.config ?? {})) {
      const number = createProtobufWriter();
      number.double(1, value);
      request.entry(7, name, number.finish());
    }
  return {
    route: 'forward_backward',
    type: 'application/x-protobuf',
    bytes: request.finish(),
  };
}

export interface ChunkLimits {
  readonly data: number;
  readonly bytes: number;
}

export const CHUNK_LIMITS: ChunkLimits = { data: 1024, bytes: 5_000_000 };

/** The names of the tensors, their types and shapes. */
const BYTES_PER_DATUM = { protobuf: 200, json: 400 } as const;
/** Bytes per position: a token, a target and up to three numbers. In JSON a number has about twenty digits. */
const BYTES_PER_POSITION = { protobuf: 24, json: 76 } as const;

/** An upper estimate of its bytes in a request. */
export const sizeOfDatum = ({ tokens }: TrainDatum, wire: WireKind): number =>
  BYTES_PER_DATUM[wire] + tokens.length * BYTES_PER_POSITION[wire];

/** The data in order, in as few chunks as the limits allow; a datum over the limit is a chunk of its own. */
export function splitData(
  data: readonly TrainDatum[],
  wire: WireKind,
  limits: ChunkLimits,
): readonly (readonly TrainDatum[])[] {
  const chunks: TrainDatum[][] = [];
  let bytes = 0;
  for (const datum of data) {
    const size = sizeOfDatum(datum, wire);
    const last = chunks.at(-1);
    if (last === undefined || last.length >= limits.data || bytes + size > limits.bytes) {
      chunks.push([datum]);
      bytes = size;
    } else {
      last.push(datum);
      bytes += size;
    }
  }
  return chunks;
}

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

/** A SampleResponse in protobuf. Throws a DecodeError. */
export function decodeProtoSample(message: Uint8Array): readonly SampledSequence[] {
  const sequences: SampledSequence[] = [];
  for (const field of protobufFields(message))
    if (field.number === 1) sequences.push(decodeSequence(protobufBytes(field)));
  return sequences;
}

function decodeSequence(message: Uint8Array): SampledSequence {
  let stop = 0;
  let tokens: readonly number[] = [];
  let logprobs: readonly number[] | undefined;
  for (const field of protobufFields(message)) {
    if (field.number === 1) stop = protobufInteger(field);
    else if (field.number === 2) tokens = Array.from(readInt32s(protobufBytes(field)));
    else if (field.number === 3) logprobs = Array.from(readFloat32s(protobufBytes(field)));
  }
  return checked(tokens, logprobs, stop === 1 ? 'length' : 'stop');
}

/** A SampleResponse in JSON. */
export function decodeJsonSample(bytes: Uint8Array): readonly SampledSequence[] {
  const body = parseJson(Buffer.from(bytes).toString('utf8'));
  if (!isObject(body) || !Array.isArray(body.sequences)) throw new DecodeError('the answer has no sequences');
  return asArray(body.sequences).map((value) => {
    const sequence = asObject(value);
    const tokens = asArray(sequence.tokens).map((token) => asNumber(token) ?? Number.NaN);
    const logprobs = Array.isArray(sequence.logprobs)
      ? asArray(sequence.logprobs).map((one) => asNumber(one) ?? Number.NaN)
      : undefined;
    return checked(tokens, logprobs, sequence.stop_reason === 'length' ? 'length' : 'stop');
  });
}

/** A sample without the sampler's log-probabilities cannot be trained on: it is refused. */
function checked(
  tokens: readonly number[],
  logprobs: readonly number[] | undefined,
  stop: SampledSequence['stop'],
): SampledSequence {
  if (!tokens.every((token) => Number.isInteger(token) && token >= 0))
    throw new DecodeError('a sample has tokens that are not ids');
  if (logprobs === undefined && tokens.length > 0)
    throw new DecodeError('a sample came without log-probabilities');
  const given = logprobs ?? [];
  if (given.length !== tokens.length)
    throw new DecodeError(`a sample has ${tokens.length} tokens and ${given.length} log-probabilities`);
  return { tokens, logprobs: given, stop };
}
