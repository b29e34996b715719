import { isObject, type Json } from '../../core/json.ts';
import { listAt, optionalTextAt } from './json-fields.ts';
import { bytesOf, fieldsOf, integerOf, pushIntegers } from './proto-reader.ts';
import { createProtoWriter, rawBytes } from './proto-writer.ts';
import { ProtocolError } from './protocol-error.ts';
import { float32sOf, int32sOf, int64sOf } from './raw-numbers.ts';

/** The protocol's tensors are flat, with a shape beside them. Whole numbers are held as doubles. */
export type Tensor =
  | { readonly dtype: 'float32'; readonly data: Float32Array; readonly shape: readonly number[] }
  | { readonly dtype: 'int64'; readonly data: Float64Array; readonly shape: readonly number[] }
  /** Rows of several targets. Recognised, so that it can be refused by name. */
  | { readonly dtype: 'sparse' };

export const DTYPE = { float32: 1, int64: 2, int32: 3 } as const;

export function decodeTensor(message: Uint8Array): Tensor {
  let dense = new Uint8Array(0);
  let isSparse = false;
  let dtype = 0;
  const shape: number[] = [];
  for (const field of fieldsOf(message)) {
    if (field.number === 1) {
      dense = bytesOf(field) as Uint8Array<ArrayBuffer>;
      isSparse = false;
    } else if (field.number === 2) {
      bytesOf(field);
      isSparse = true;
    } else if (field.number === 3) dtype = integerOf(field);
    else if (field.number === 4) pushIntegers(shape, field);
  }
  if (isSparse) return { dtype: 'sparse' };
  if (dtype === DTYPE.float32) return shaped({ dtype: 'float32', data: float32sOf(dense), shape });
  if (dtype === DTYPE.int64) return shaped({ dtype: 'int64', data: int64sOf(dense), shape });
  if (dtype === DTYPE.int32)
    return shaped({ dtype: 'int64', data: Float64Array.from(int32sOf(dense)), shape });
  throw new ProtocolError(`a tensor of type ${dtype} is not read here`);
}

export function encodeTensor(tensor: Exclude<Tensor, { dtype: 'sparse' }>): Uint8Array {
  const writer = createProtoWriter();
  const raw =
    tensor.dtype === 'float32' ? tensor.data : BigInt64Array.from(tensor.data, (value) => BigInt(value));
  writer.message(1, rawBytes(raw));
  writer.integer(3, DTYPE[tensor.dtype]);
  writer.packed(4, tensor.shape);
  return writer.finish();
}

/** `{data, dtype, shape?}`. A null among floats stands for NaN, which JSON cannot say. */
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
  if (!numbers.every(Number.isSafeInteger)) throw new ProtocolError(`${name} must hold whole numbers`, 422);
  return shaped({ dtype, data: numbers, shape });
}

function numberIn(item: Json, name: string): number {
  if (typeof item !== 'number') throw new ProtocolError(`${name} must hold numbers`, 422);
  return item;
}

/** No shape means one dimension. */
function shaped<T extends Exclude<Tensor, { dtype: 'sparse' }>>(tensor: T): T {
  const { data, shape } = tensor;
  if (shape.length === 0) return { ...tensor, shape: [data.length] };
  const size = shape.reduce((product, side) => (side >= 0 ? product * side : Number.NaN), 1);
  if (size !== data.length) {
    throw new ProtocolError(`a tensor of shape [${shape.slice(0, 8)}] has ${data.length} values`, 422);
  }
  return tensor;
}
