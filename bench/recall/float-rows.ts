import { assembleModule, instantiate } from './instar.ts';

/** The same scan over floats: what bytes are compared with. */
export interface FloatRows {
  set(slot: number, vector: Float32Array): void;
  score(query: Float32Array, count: number): Float32Array;
}

const PAGE = 65_536;
const I32 = 0x7f;
const V128 = 0x7b;
const local = (code: number) => (index: number) => [code, index];
const [get, set] = [local(0x20), local(0x21)];
const load = (offset: number): readonly number[] => [0xfd, 0x00, 0, offset];
const [MUL, ADD] = [
  [0xfd, 0xe6, 0x01],
  [0xfd, 0xe4, 0x01],
];
const lane = (at: number): readonly number[] => [0xfd, 0x1f, at];
const advance = (index: number, by: readonly number[]): readonly (readonly number[])[] => [
  get(index),
  [0x41, ...by],
  [0x6a],
  set(index),
];

/** rows, count, query, out, bytes of a row; then: sums, query's place, row's end. */
function floatModule(): Uint8Array {
  const [rows, count, query, out, bytes, sums, queryAt, rowEnd] = [0, 1, 2, 3, 4, 5, 6, 7];
  const products = [0, 16, 32, 48].flatMap((offset) => [
    ...[get(rows), load(offset), get(queryAt), load(offset), MUL],
    ...[get(sums), ADD, set(sums)],
  ]);
  return assembleModule(
    'dots',
    [I32, I32, I32, I32, I32],
    [V128, I32, I32],
    [
      [0x03, 0x40],
      ...[[0xfd, 0x0c, ...new Array<number>(16).fill(0)], set(sums)],
      ...[get(query), set(queryAt), get(rows), get(bytes), [0x6a], set(rowEnd)],
      [0x03, 0x40],
      ...products,
      ...advance(queryAt, [0xc0, 0x00]),
      ...advance(rows, [0xc0, 0x00]),
      ...[get(rows), get(rowEnd), [0x49], [0x0d, 0], [0x0b]],
      get(out),
      ...[0, 1, 2, 3].flatMap((at) => [get(sums), lane(at), ...(at === 0 ? [] : [[0x92]])]),
      [0x38, 0, 0],
      ...advance(out, [0x04]),
      ...[get(count), [0x41, 0x7f], [0x6a], [0x22, count], [0x0d, 0], [0x0b]],
    ],
  );
}

export function createFloatRows(dimensions: number, capacity: number): FloatRows {
  const opened = instantiate(floatModule());
  if (opened === undefined) throw new Error('no SIMD here');
  const { memory, exports } = opened;
  const bytes = dimensions * 4;
  const out = bytes;
  const rows = out + Math.ceil(capacity / 4) * 16;
  memory.grow(Math.ceil((rows + capacity * bytes) / PAGE));
  const dots = exports.dots as (...places: readonly number[]) => void;
  return {
    set: (slot, vector) => new Float32Array(memory.buffer, rows + slot * bytes, dimensions).set(vector),
    score: (query, count) => {
      new Float32Array(memory.buffer, 0, dimensions).set(query);
      dots(rows, count, 0, out, bytes);
      return new Float32Array(memory.buffer, out, count);
    },
  };
}
