import {
  advance,
  assemble,
  block,
  type Code,
  doWhile,
  f32,
  i32,
  i32x4,
  kernel,
  type Local,
  sumIntLanes,
  v128,
  whileTrue,
} from '../../wasm/assembler.ts';
import { canInstantiate, createMemory, instantiate } from '../../wasm/web-assembly.ts';

/**
 * Dot products of one query with many rows, in memory that the kernel owns. A row is `dimensions` signed bytes, then its
 * scale as a float and padding up to 16 bytes; a query is `dimensions` signed 16-bit numbers. Sums are integers, so that
 * all kernels return the same bits. `dimensions` is a multiple of 32; the caller ensures that no sum overflows 32 bits.
 */
export interface DotKernel {
  readonly name: 'wasm-simd' | 'plain';
  /** A new one after `reserve`: views on the previous one are invalid. */
  buffer(): ArrayBuffer;
  /** Grows the memory to at least this size; its content stays. */
  reserve(bytes: number): void;
  /** Writes `count` floats at `out`: row · query × the row's scale × `scale`. All addresses are byte offsets. */
  dots(rows: number, count: number, query: number, out: number, dimensions: number, scale: number): void;
}

/** After a row's bytes: its scale, and padding that keeps rows aligned. */
export const ROW_TAIL = 16;
/** Bytes of a row per step. */
export const KERNEL_STEP = 32;
const PAGE = 65_536;

/** Undefined where WebAssembly or its SIMD instructions are missing. */
export function createSimdKernel(): DotKernel | undefined {
  const code = assemble([dotsKernel]);
  if (!canInstantiate(code)) return undefined;
  const memory = createMemory();
  const { dots } = instantiate(code, memory) as Pick<DotKernel, 'dots'>;
  return {
    name: 'wasm-simd',
    buffer: () => memory.buffer,
    reserve: (wanted) => {
      const missing = wanted - memory.buffer.byteLength;
      if (missing > 0) memory.grow(Math.ceil(missing / PAGE));
    },
    dots,
  };
}

/** The same sums without SIMD, about ten times slower. */
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

/** For each row, 32 bytes at a time: two accumulators take 16 products each; then the sum of their lanes times both scales. */
const dotsKernel = kernel(
  'dots',
  ['rows', 'count', 'query', 'out', 'dimensions', 'scale'],
  (p, scope) => {
    const [queryAt, rowEnd] = [scope.i32(), scope.i32()];
    const [even, odd] = [scope.v128(), scope.v128()];
    const addProducts = (sums: Local, offset: number): Code =>
      sums.set(i32x4.add(i32x4.dot(v128.loadBytes(p.rows, offset), v128.load(queryAt, 2 * offset)), sums));
    return whileTrue(
      p.count,
      even.set(0),
      odd.set(0),
      queryAt.set(p.query),
      rowEnd.set(i32.add(p.rows, p.dimensions)),
      doWhile(
        i32.lessThan(p.rows, rowEnd),
        block(addProducts(even, 0), addProducts(odd, 8), addProducts(even, 16), addProducts(odd, 24)),
        advance(queryAt, 2 * KERNEL_STEP),
        advance(p.rows, KERNEL_STEP),
      ),
      even.set(i32x4.add(even, odd)),
      f32.store(p.out, f32.mul(f32.mul(f32.fromInt(sumIntLanes(even)), f32.load(p.rows)), p.scale)),
      advance(p.rows, ROW_TAIL),
      advance(p.out, 4),
      advance(p.count, -1),
    );
  },
  ['scale'],
);
