import { readFloat32s, readInt32s, readInt64s, toBytes } from '../../base/little-endian.ts';
import {
  createProtobufWriter,
  protobufBytes,
  protobufFields,
  protobufInteger,
  pushProtobufIntegers,
} from '../../base/protobuf.ts';
import { isObject, type Json } from '../../core/json.ts';
import { listAt, optionalTextAt } from './json-fields.ts';
import { ProtocolError } from './protocol-error.ts';

/** The protocol's tensors are flat arrays with a shape. Integers are held as doubles. */
export type Tensor =
  | { readonly dtype: 'float32'; readonly data: Float32Array; readonly shape: readonly number[] }
  | { readonly dtype: 'int64'; readonly data: Float64Array; readonly shape: readonly number[] }
  /** Rows of several targets. Decoded so that it can be rejected with a clear message. */
  | { readonly dtype: 'sparse' };

export const DTYPE = { float32: 1, int64: 2, int32: 3 } as const;

export function decodeTensor(message: Uint8Array): Tensor {
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

export function encodeTensor(tensor: Exclude<Tensor, { dtype: 'sparse' }>): Uint8Array {
  const writer = createProtobufWriter();
  const raw =
    tensor.dtype === 'float32' ? tensor.data : BigInt64Array.from(tensor.data, (value) => BigInt(value));
  writer.message(1, toBytes(raw));
  writer.integer(3, DTYPE[tensor.dtype]);
  writer.packed(4, tensor.shape);
  return writer.finish();
}

/** `{data, dtype, shape?}`. A null among floats is NaN, which JSON does not have. */
export function decodeJsonTensor(value: Json | undefined, name: string): Tensor {
  if (!isObject(value)) throw new ProtocolError(`${name} must be a tensor`, 422);
  if ((value.sparse_crow_indices ?? undefined) !== undefined) return { dtype: 'sparse' };
  const data = listAt(value, 'data');
  const given = value.shape ?? undefined;
  const shape = (given === undefined ? [data.length] : Array.isArray(given) ? given : []) as number[];
  if (given !== undefined && !Array.isArray(given))
    throw new ProtocolError(`${name}.shape must be a list`, 422);
  const dtype = optionalTextAt(value, 'dtype');
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
function shaped<T extends Exclude<Tensor, { dtype: 'sparse' }>>(tensor: T): T {
  const { data, shape } = tensor;
  if (shape.length === 0) return { ...tensor, shape: [data.length] };
  const size = shape.reduce((product, side) => (side >= 0 ? product * side : Number.NaN), 1);
  if (size !== data.length) {
    throw new ProtocolError(`a tensor of shape [${shape.slice(0, 8)}] has ${data.length} values`, 422);
  }
  return tensor;
}
