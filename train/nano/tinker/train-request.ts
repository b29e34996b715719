import { readFloat32s, readInt32s, readInt64s } from '../../../src/base/little-endian.ts';
import {
  type ProtobufField,
  protobufBytes,
  protobufDouble,
  protobufEntry,
  protobufFields,
  protobufInteger,
  protobufText,
  pushProtobufIntegers,
} from '../../../src/base/protobuf.ts';
import { asObject, isObject, type Json, type JsonObject } from '../../../src/core/json.ts';
import {
  listField,
  objectField,
  optionalIntegerField,
  optionalObjectField,
  optionalTextField,
  ProtocolError,
  textField,
} from './json-fields.ts';

/** The protocol's tensors are flat arrays with a shape. Integers are held as doubles. */
export type TinkerTensor =
  | { readonly dtype: 'float32'; readonly data: Float32Array; readonly shape: readonly number[] }
  | { readonly dtype: 'int64'; readonly data: Float64Array; readonly shape: readonly number[] }
  /** Rows of several targets. Decoded so that it can be rejected with a clear message. */
  | { readonly dtype: 'sparse' };

export const DTYPE = { float32: 1, int64: 2, int32: 3 } as const;

function decodeTensor(message: Uint8Array): TinkerTensor {
  let dense = new Uint8Array(0);
  let isSparse = false;
  let dtype = 0;
  const shape: number[] = [];
  for (const field of protobufFields(message)) {
    if (field.number === 1) {
      dense = protobufBytes(field) as Uint8Array<ArrayBuffer>;
      isSparse = false;
    } else if (field.number === 2) {
      protobufBytes(field);
      isSparse = true;
    } else if (field.number === 3) dtype = protobufInteger(field);
    else if (field.number === 4) pushProtobufIntegers(shape, field);
  }
  if (isSparse) return { dtype: 'sparse' };
  if (dtype === DTYPE.float32) return shaped({ dtype: 'float32', data: readFloat32s(dense), shape });
  if (dtype === DTYPE.int64) return shaped({ dtype: 'int64', data: readInt64s(dense), shape });
  if (dtype === DTYPE.int32)
    return shaped({ dtype: 'int64', data: Float64Array.from(readInt32s(dense)), shape });
  throw new ProtocolError(`tensors of type ${dtype} are not supported`);
}

/** `{data, dtype, shape?}`. A null among floats is NaN, which JSON does not have. */
function decodeJsonTensor(value: Json | undefined, name: string): TinkerTensor {
  if (!isObject(value)) throw new ProtocolError(`${name} must be a tensor`, 422);
  if ((value.sparse_crow_indices ?? undefined) !== undefined) return { dtype: 'sparse' };
  const data = listField(value, 'data');
  const given = value.shape ?? undefined;
  const shape = (given === undefined ? [data.length] : Array.isArray(given) ? given : []) as number[];
  if (given !== undefined && !Array.isArray(given))
    throw new ProtocolError(`${name}.shape must be a list`, 422);
  const dtype = optionalTextField(value, 'dtype');
  if (dtype === 'float32') {
    const numbers = Float32Array.from(data, (item) => numberIn(item ?? Number.NaN, name));
    return shaped({ dtype, data: numbers, shape });
  }
  if (dtype !== 'int64') throw new ProtocolError(`${name}.dtype must be float32 or int64`, 422);
  const numbers = Float64Array.from(data, (item) => numberIn(item, name));
  if (!numbers.every(Number.isSafeInteger)) throw new ProtocolError(`${name} must hold integers`, 422);
  return shaped({ dtype, data: numbers, shape });
}

function numberIn(item: Json, name: string): number {
  if (typeof item !== 'number') throw new ProtocolError(`${name} must hold numbers`, 422);
  return item;
}

/** Without a shape the tensor has one dimension. */
function shaped<T extends Exclude<TinkerTensor, { dtype: 'sparse' }>>(tensor: T): T {
  const { data, shape } = tensor;
  if (shape.length === 0) return { ...tensor, shape: [data.length] };
  const size = shape.reduce((product, side) => (side >= 0 ? product * side : Number.NaN), 1);
  if (size !== data.length) {
    throw new ProtocolError(`a tensor of shape [${shape.slice(0, 8)}] has ${data.length} values`, 422);
  }
  return tensor;
}

/** A forward or forward_backward as a client sent it, before it is validated for the engine. */
export interface TinkerTrainRequest {
  readonly modelId: string;
  /** Undefined when the client does not number its requests. */
  readonly seqId: number | undefined;
  readonly loss: string;
  readonly config: ReadonlyMap<string, number | string>;
  readonly forwardOnly: boolean;
  readonly data: readonly TinkerDatum[];
}

export interface TinkerDatum {
  readonly tokens: Int32Array;
  /** The kinds of other inputs, such as images: decoded so that they can be rejected with a clear message. */
  readonly foreign: readonly string[];
  readonly inputs: ReadonlyMap<string, TinkerTensor>;
}

const CHUNK_KINDS = ['', 'encoded_text', 'image', 'dmel'];

export function decodeTrainRequest(message: Uint8Array): TinkerTrainRequest {
  let modelId = '';
  let seqId = 0;
  let loss = '';
  let forwardOnly = false;
  const data: TinkerDatum[] = [];
  const config = new Map<string, number | string>();
  for (const field of protobufFields(message)) {
    if (field.number === 1) modelId = protobufText(field);
    else if (field.number === 2) seqId = protobufInteger(field);
    else if (field.number === 3) data.push(decodeDatum(protobufBytes(field)));
    else if (field.number === 4) loss = protobufText(field);
    else if (field.number === 5) {
      const { key, value } = protobufEntry(field);
      config.set(key, value === undefined ? 0 : protobufDouble(value));
    } else if (field.number === 6) forwardOnly = protobufInteger(field) !== 0;
    else if (field.number === 7) {
      const { key, value } = protobufEntry(field);
      config.set(key, value === undefined ? 0 : configValueOf(value));
    }
  }
  return { modelId, seqId: seqId === 0 ? undefined : seqId, loss, config, forwardOnly, data };
}

/** A number or a text, in the map that newer clients write in addition to the old one. */
function configValueOf(field: ProtobufField): number | string {
  let value: number | string = 0;
  for (const part of protobufFields(protobufBytes(field))) {
    if (part.number === 1) value = protobufDouble(part);
    else if (part.number === 2) value = protobufText(part);
  }
  return value;
}

function decodeDatum(message: Uint8Array): TinkerDatum {
  const pieces: Int32Array[] = [];
  const foreign: string[] = [];
  const inputs = new Map<string, TinkerTensor>();
  for (const field of protobufFields(message)) {
    if (field.number === 1) {
      for (const chunk of protobufFields(protobufBytes(field))) {
        if (chunk.number !== 1) foreign.push(CHUNK_KINDS[chunk.number] ?? 'unknown');
        else
          for (const part of protobufFields(protobufBytes(chunk)))
            if (part.number === 1) pieces.push(readInt32s(protobufBytes(part)));
      }
    } else if (field.number === 2) {
      const { key, value } = protobufEntry(field);
      inputs.set(key, decodeTensor(value === undefined ? new Uint8Array(0) : protobufBytes(value)));
    }
  }
  return { tokens: joinTokens(pieces), foreign, inputs };
}

/** The JSON of /forward and /forward_backward, which differ in the name of one member. */
export function decodeJsonTrainRequest(body: JsonObject, forwardOnly: boolean): TinkerTrainRequest {
  const input = objectField(body, forwardOnly ? 'forward_input' : 'forward_backward_input');
  const config = new Map<string, number | string>();
  for (const [name, value] of Object.entries(optionalObjectField(input, 'loss_fn_config') ?? {})) {
    if (typeof value !== 'number' && typeof value !== 'string')
      throw new ProtocolError(`loss_fn_config.${name} must be a number`, 422);
    config.set(name, value);
  }
  return {
    modelId: textField(body, 'model_id'),
    seqId: optionalIntegerField(body, 'seq_id'),
    loss: textField(input, 'loss_fn'),
    config,
    forwardOnly,
    data: listField(input, 'data').map((datum) => {
      const inputs = new Map<string, TinkerTensor>();
      for (const [name, value] of Object.entries(objectField(asObject(datum), 'loss_fn_inputs')))
        inputs.set(name, decodeJsonTensor(value, name));
      return { ...decodeModelInput(asObject(datum).model_input, 'model_input'), inputs };
    }),
  };
}

/** `{chunks: [{type, tokens}]}`, for data and prompts. */
export function decodeModelInput(
  value: Json | undefined,
  name: string,
): { readonly tokens: Int32Array; readonly foreign: readonly string[] } {
  if (!isObject(value)) throw new ProtocolError(`${name} must be an object with chunks`, 422);
  const pieces: Int32Array[] = [];
  const foreign: string[] = [];
  for (const chunk of listField(value, 'chunks')) {
    if (!isObject(chunk)) throw new ProtocolError(`${name}.chunks must hold objects`, 422);
    const type = optionalTextField(chunk, 'type') ?? 'encoded_text';
    if (type !== 'encoded_text') foreign.push(type);
    else
      pieces.push(
        Int32Array.from(listField(chunk, 'tokens'), (token) => {
          if (typeof token === 'number' && token === (token | 0)) return token;
          throw new ProtocolError(`${name} must hold token ids`, 422);
        }),
      );
  }
  return { tokens: joinTokens(pieces), foreign };
}

function joinTokens(pieces: readonly Int32Array[]): Int32Array {
  const [only] = pieces;
  if (pieces.length === 1 && only !== undefined) return only;
  const tokens = new Int32Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    tokens.set(piece, at);
    at += piece.length;
  }
  return tokens;
}
