import { canInstantiate, createWasmMemory, instantiate } from '../../base/wasm/arena.ts';
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
} from '../../base/wasm/assembler.ts';

/**
 * Dot products of one query with many rows, in memory that the kernel owns. A row is `dimensions` signed bytes, then its
 * scale as a float and padding up to 16 bytes; a query is `dimensions` signed 16-bit numbers. Sums are integers, so that
 * all kernels return the same bits. `dimensions` is a multiple of 32; the caller ensures that no sum overflows 32 bits.
 */
interface DotKernel {
  readonly name: 'wasm-simd' | 'plain';
  /** A new one after `reserve`: views on the previous one are invalid. */
  buffer(): ArrayBuffer;
  /** Grows the memory to at least this size; its content stays. */
  reserve(bytes: number): void;
  /** Writes `count` floats at `out`: row · query × the row's scale × `scale`. The query is at 0; addresses are byte offsets. */
  dots(rows: number, count: number, scale: number, layout: DotLayout): void;
}

interface DotLayout {
  readonly dimensions: number;
  readonly out: number;
}

/** After a row's bytes: its scale, and padding that keeps rows aligned. */
const ROW_TAIL = 16;
/** Bytes of a row per step. */
const KERNEL_STEP = 32;
const PAGE = 65_536;

/** Undefined where WebAssembly or its SIMD instructions are missing. */
export function createSimdKernel(): DotKernel | undefined {
  const code = assemble([dotsKernel]);
  if (!canInstantiate(code)) return undefined;
  const memory = createWasmMemory();
  const { dots } = instantiate(code, memory) as { dots(...parameters: readonly number[]): void };
  return {
    name: 'wasm-simd',
    buffer: () => memory.buffer,
    reserve: (wanted) => {
      const missing = wanted - memory.buffer.byteLength;
      if (missing > 0) memory.grow(Math.ceil(missing / PAGE));
    },
    dots: (rows, count, scale, { out, dimensions }) => dots(rows, count, 0, out, dimensions, scale),
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
    dots: (rows, count, scale, { out, dimensions }) => {
      const words = new Int16Array(buffer, 0, dimensions);
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

/** A growing table of unit vectors, quantised to one byte per number. Empty slots score 0. */
export interface Int8Vectors {
  readonly dimensions: number;
  /** The highest slot ever set, plus one. */
  readonly length: number;
  readonly bytes: number;
  set(slot: number, vector: Float32Array): void;
  /** The same as `set` with these numbers times `scale`, where the largest of them is ±127. */
  setQuantised(slot: number, numbers: Int8Array, scale: number): void;
  clear(slot: number): void;
  has(slot: number): boolean;
  /** The vector up to rounding: within half of its largest number / 127. */
  read(slot: number): Float32Array;
  query(vector: Float32Array): Int8Query;
  /** Writes the cosines of the slots from `from` to `to` to the same indices of `scores`. */
  score(query: Int8Query, from: number, to: number, scores: Float32Array): void;
  /** The same for these slots alone. */
  scoreEach(query: Int8Query, slots: Iterable<number>, scores: Float32Array): void;
}

/** A query quantised for comparison with the rows, of any table of the same dimensions. */
export interface Int8Query {
  readonly words: Int16Array;
  readonly scale: number;
}

/** Rows per call of the kernel; about a third of a millisecond. */
const SLICE = 8192;
const BYTE_MOST = 127;
const WORD_MOST = 32_767;
const SUM_MOST = 2 ** 31 - 1;

/**
 * Bytes instead of floats: a quarter of the memory and, since scanning is bound by memory bandwidth, less than half of the
 * time. The error of the cosine is about 0.0005, far below the differences that matter.
 */
export function createInt8Vectors(
  dimensions: number,
  kernel: DotKernel = createSimdKernel() ?? createPlainKernel(),
): Int8Vectors {
  const width = Math.ceil(dimensions / KERNEL_STEP) * KERNEL_STEP;
  const stride = width + ROW_TAIL;
  // So that no sum overflows, for any distribution of the numbers.
  const wordMost = Math.min(WORD_MOST, Math.floor(SUM_MOST / (BYTE_MOST * width)));
  const out = width * 2;
  const layout: DotLayout = { dimensions: width, out };
  const rows = out + SLICE * 4;
  let length = 0;
  let views = viewsOn(kernel.buffer());

  const placeOf = (slot: number): number => rows + slot * stride;
  const reach = (slot: number): void => {
    if (slot < length) return;
    length = slot + 1;
    const wanted = placeOf(length);
    if (wanted <= kernel.buffer().byteLength) return;
    kernel.reserve(Math.max(wanted, Math.ceil(kernel.buffer().byteLength * 1.25)));
    views = viewsOn(kernel.buffer());
  };
  const scaleAt = (slot: number): number => views.floats[(placeOf(slot) + width) >> 2] ?? 0;

  return {
    dimensions,
    get length() {
      return length;
    },
    get bytes() {
      return kernel.buffer().byteLength;
    },
    set: (slot, vector) => {
      reach(slot);
      const scale = largest(vector) / BYTE_MOST;
      const place = placeOf(slot);
      const { bytes, floats } = views;
      for (let at = 0; at < dimensions; at++)
        bytes[place + at] = scale === 0 ? 0 : Math.round((vector[at] ?? 0) / scale);
      floats[(place + width) >> 2] = scale;
    },
    setQuantised: (slot, numbers, scale) => {
      reach(slot);
      const place = placeOf(slot);
      views.bytes.set(numbers.subarray(0, dimensions), place);
      // Rounded like the scale that `set` would find.
      views.floats[(place + width) >> 2] = Math.fround(BYTE_MOST * scale) / BYTE_MOST;
    },
    clear: (slot) => {
      if (slot < length) views.bytes.fill(0, placeOf(slot), placeOf(slot) + stride);
    },
    has: (slot) => slot < length && scaleAt(slot) !== 0,
    read: (slot) => {
      const place = placeOf(slot);
      const scale = slot < length ? scaleAt(slot) : 0;
      return Float32Array.from({ length: dimensions }, (_, at) => (views.bytes[place + at] ?? 0) * scale);
    },
    query: (vector) => {
      const scale = largest(vector) / wordMost || 1;
      const words = new Int16Array(vector.length);
      for (let at = 0; at < vector.length; at++) words[at] = Math.round((vector[at] ?? 0) / scale);
      return { words, scale };
    },
    score: (query, from, to, scores) => {
      const end = Math.min(to, length);
      for (let slot = from; slot < end; slot += SLICE) {
        const count = Math.min(SLICE, end - slot);
        new Int16Array(kernel.buffer(), 0, width).set(query.words);
        kernel.dots(placeOf(slot), count, query.scale, layout);
        scores.set(views.floats.subarray(out >> 2, (out >> 2) + count), slot);
      }
    },
    scoreEach: (query, slots, scores) => {
      new Int16Array(kernel.buffer(), 0, width).set(query.words);
      for (const slot of slots) {
        if (slot >= length) continue;
        kernel.dots(placeOf(slot), 1, query.scale, layout);
        scores[slot] = views.floats[out >> 2] ?? 0;
      }
    },
  };
}

const viewsOn = (buffer: ArrayBuffer) => ({
  bytes: new Int8Array(buffer),
  floats: new Float32Array(buffer, 0, buffer.byteLength >> 2),
});

function largest(vector: Float32Array): number {
  let most = 0;
  for (let at = 0; at < vector.length; at++) {
    const value = Math.abs(vector[at] as number);
    if (value > most) most = value;
  }
  return most;
}
