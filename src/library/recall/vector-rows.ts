import { createPlainKernel, createSimdKernel, type DotKernel, KERNEL_STEP, ROW_TAIL } from './dot-kernel.ts';

/** A growing table of unit vectors, quantised to one byte per number. Empty slots score 0. */
export interface VectorRows {
  readonly dimensions: number;
  /** The highest slot ever set, plus one. */
  readonly length: number;
  readonly bytes: number;
  set(slot: number, vector: Float32Array): void;
  clear(slot: number): void;
  has(slot: number): boolean;
  /** The vector up to rounding: within half of its largest number / 127. */
  read(slot: number): Float32Array;
  query(vector: Float32Array): RowQuery;
  /** Writes the cosines of the slots from `from` to `to` to the same indices of `scores`. */
  score(query: RowQuery, from: number, to: number, scores: Float32Array): void;
}

/** A query quantised for comparison with the rows. */
export interface RowQuery {
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
export function createVectorRows(
  dimensions: number,
  kernel: DotKernel = createSimdKernel() ?? createPlainKernel(),
): VectorRows {
  const width = Math.ceil(dimensions / KERNEL_STEP) * KERNEL_STEP;
  const stride = width + ROW_TAIL;
  // So that no sum overflows, for any distribution of the numbers.
  const wordMost = Math.min(WORD_MOST, Math.floor(SUM_MOST / (BYTE_MOST * width)));
  const out = width * 2;
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
      for (let at = 0; at < dimensions; at++)
        views.bytes[place + at] = scale === 0 ? 0 : Math.round((vector[at] ?? 0) / scale);
      views.floats[(place + width) >> 2] = scale;
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
      return { words: Int16Array.from(vector, (value) => Math.round(value / scale)), scale };
    },
    score: (query, from, to, scores) => {
      const end = Math.min(to, length);
      for (let slot = from; slot < end; slot += SLICE) {
        const count = Math.min(SLICE, end - slot);
        new Int16Array(kernel.buffer(), 0, width).set(query.words);
        kernel.dots(placeOf(slot), count, 0, out, width, query.scale);
        scores.set(views.floats.subarray(out >> 2, (out >> 2) + count), slot);
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
  for (const value of vector) most = Math.max(most, Math.abs(value));
  return most;
}
