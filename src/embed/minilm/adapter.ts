import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type FloatTensor, readSafetensors } from '../../base/safetensors.ts';

/** Low-rank changes of the model's linear layers: the weights of layer `name` become W + b·a. */
export interface MiniLmAdapter {
  /** Adds the change to `count` rows of a layer's weights, from row `first`. `rows` has `inputs` numbers a row. */
  add(name: string, rows: Float32Array, first: number, count: number, inputs: number): void;
}

/** Reads an adapter file. Rejects when it is missing, has another hash, or a tensor of another shape than its partner. */
export async function loadMiniLmAdapter(file: URL, sha256: string): Promise<MiniLmAdapter> {
  const bytes = await readFile(file);
  if (createHash('sha256').update(bytes).digest('hex') !== sha256)
    throw new Error(`${file.pathname} is not the adapter of the tested model (SHA-256 differs)`);
  const { tensors } = readSafetensors(bytes);
  return {
    add: (name, rows, first, count, inputs) => {
      const [a, b] = [tensors.get(`${name}.a`), tensors.get(`${name}.b`)];
      if (a !== undefined && b !== undefined) addRows(a, b, rows, first, count, inputs);
    },
  };
}

function addRows(
  a: FloatTensor,
  b: FloatTensor,
  rows: Float32Array,
  first: number,
  count: number,
  inputs: number,
): void {
  const [rank = 0, width] = a.shape;
  if (width !== inputs || b.shape[1] !== rank) throw new Error('the adapter does not fit the model');
  if (rank % 4 !== 0) throw new Error('the rank of the adapter must be a multiple of 4');
  const part = (k: number): Float32Array => a.values.subarray(k * inputs, (k + 1) * inputs);
  for (let k = 0; k < rank; k += 4) {
    const [a0, a1, a2, a3] = [part(k), part(k + 1), part(k + 2), part(k + 3)];
    for (let row = 0; row < count; row++) {
      const to = rows.subarray(row * inputs, (row + 1) * inputs);
      const at = (first + row) * rank + k;
      const [b0 = 0, b1 = 0, b2 = 0, b3 = 0] = b.values.subarray(at, at + 4);
      // Four at a time: the weights are read and written a quarter as often.
      for (let i = 0; i < inputs; i++)
        to[i] =
          (to[i] as number) +
          b0 * (a0[i] as number) +
          b1 * (a1[i] as number) +
          b2 * (a2[i] as number) +
          b3 * (a3[i] as number);
    }
  }
}
