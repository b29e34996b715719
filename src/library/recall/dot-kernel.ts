import { assembleModule, F32, I32, instantiate, op, V128 } from './wasm-module.ts';

/**
 * Dot products of one query with many rows, over memory it owns. A row is `dimensions` signed bytes, then its scale as
 * a float and padding up to 16 bytes; a query is `dimensions` signed 16-bit numbers. The sums are whole numbers, so
 * every kernel gives the same bits. `dimensions` is a multiple of 32; the caller sees to it that no sum overflows 32 bits.
 */
export interface DotKernel {
  readonly name: 'wasm-simd' | 'plain';
  /** Another one after `reserve`: views on the one before are void. */
  buffer(): ArrayBuffer;
  /** Makes the memory at least so long; what is in it stays. */
  reserve(bytes: number): void;
  /** Writes `count` floats from `out` on: row · query × the row's scale × `scale`. All places are byte offsets. */
  dots(rows: number, count: number, query: number, out: number, dimensions: number, scale: number): void;
}

/** Behind a row's bytes: its scale, and padding that keeps rows aligned. */
export const ROW_TAIL = 16;
/** Bytes of a row that are taken at a time. */
export const KERNEL_STEP = 32;
const PAGE = 65_536;

/** Undefined where WebAssembly or its SIMD is missing. */
export function createSimdKernel(): DotKernel | undefined {
  const opened = instantiate(dotsModule());
  if (opened === undefined) return undefined;
  const { memory, exports } = opened;
  return {
    name: 'wasm-simd',
    buffer: () => memory.buffer,
    reserve: (wanted) => {
      const missing = wanted - memory.buffer.byteLength;
      if (missing > 0) memory.grow(Math.ceil(missing / PAGE));
    },
    dots: exports.dots as DotKernel['dots'],
  };
}

/** The same sums without SIMD, some ten times slower. */
export function createPlainKernel(): DotKernel {
  let buffer = new ArrayBuffer(PAGE);
  return {
    name: 'plain',
    buffer: () => buffer,
    reserve: (wanted) => {
      if (wanted <= buffer.byteLength) return;
      const larger = new ArrayBuffer(Math.ceil(wanted / PAGE) * PAGE);
      new Uint8Array(larger).set(new Uint8Array(buffer));
      buffer = larger;
    },
    dots: (rows, count, query, out, dimensions, scale) => {
      const words = new Int16Array(buffer, query, dimensions);
      const sums = new Float32Array(buffer, out, count);
      for (let row = 0; row < count; row++) {
        const start = rows + row * (dimensions + ROW_TAIL);
        const bytes = new Int8Array(buffer, start, dimensions);
        const [rowScale = 0] = new Float32Array(buffer, start + dimensions, 1);
        let sum = 0;
        for (let at = 0; at < dimensions; at++) sum += (bytes[at] ?? 0) * (words[at] ?? 0);
        sums[row] = Math.fround(Math.fround(sum) * rowScale) * Math.fround(scale);
      }
    },
  };
}

/** for each row: for each 32 bytes: two accumulators take 16 products each; then lanes, scales, store. */
function dotsModule(): Uint8Array {
  const [rows, count, query, out, dimensions, scale] = [0, 1, 2, 3, 4, 5];
  const [left, even, odd, queryAt, rowEnd] = [6, 7, 8, 9, 10];
  const products = (offset: number, sums: number): readonly (readonly number[])[] => [
    op.get(rows),
    op.v128Load8x8S(offset),
    op.get(queryAt),
    op.v128Load(offset * 2),
    op.i32x4DotI16x8S,
    op.get(sums),
    op.i32x4Add,
    op.set(sums),
  ];
  const advance = (local: number, by: number): readonly (readonly number[])[] => [
    op.get(local),
    op.i32Const(by),
    op.i32Add,
    op.set(local),
  ];
  const lane = (index: number): readonly (readonly number[])[] => [
    op.get(even),
    op.i32x4ExtractLane(index),
    ...(index === 0 ? [] : [op.i32Add]),
  ];
  return assembleModule(
    'dots',
    [I32, I32, I32, I32, I32, F32],
    [I32, V128, V128, I32, I32],
    [
      op.get(count),
      op.set(left),
      op.block,
      op.loop,
      ...[op.get(left), op.i32Eqz, op.brIf(1)],
      ...[op.v128Const0, op.set(even), op.v128Const0, op.set(odd)],
      ...[op.get(query), op.set(queryAt)],
      ...[op.get(rows), op.get(dimensions), op.i32Add, op.set(rowEnd)],
      op.loop,
      ...[...products(0, even), ...products(8, odd), ...products(16, even), ...products(24, odd)],
      ...advance(queryAt, KERNEL_STEP * 2),
      ...advance(rows, KERNEL_STEP),
      ...[op.get(rows), op.get(rowEnd), op.i32LtU, op.brIf(0)],
      op.end,
      ...[op.get(even), op.get(odd), op.i32x4Add, op.set(even)],
      op.get(out),
      ...[...lane(0), ...lane(1), ...lane(2), ...lane(3)],
      op.f32ConvertI32S,
      ...[op.get(rows), op.f32Load(0), op.f32Mul],
      ...[op.get(scale), op.f32Mul],
      op.f32Store(0),
      ...advance(rows, ROW_TAIL),
      ...advance(out, 4),
      ...[op.get(left), op.i32Const(1), op.i32Sub, op.set(left)],
      op.br(0),
      op.end,
      op.end,
    ],
  );
}
