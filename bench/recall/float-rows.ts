import {
  advance,
  assemble,
  block,
  type Code,
  countUp,
  f32,
  f32x4,
  joinLanes,
  kernel,
  v128,
} from '../../src/wasm/assembler.ts';
import { createMemory, instantiate } from '../../src/wasm/web-assembly.ts';

/** The same scan over 32-bit floats: the baseline for the scan over bytes. */
export interface FloatRows {
  set(slot: number, vector: Float32Array): void;
  score(query: Float32Array, count: number): Float32Array;
}

const PAGE = 65_536;
const STEP = 64;

const dotsKernel = kernel('dots', ['rows', 'count', 'query', 'out', 'bytes'], (p, scope) => {
  const [row, at, queryAt, sums] = [scope.i32(), scope.i32(), scope.i32(), scope.v128()];
  const addProducts = (offset: number): Code =>
    sums.set(f32x4.add(f32x4.mul(v128.load(p.rows, offset), v128.load(queryAt, offset)), sums));
  return block(
    countUp(
      row,
      p.count,
      1,
      sums.set(0),
      queryAt.set(p.query),
      countUp(
        at,
        p.bytes,
        STEP,
        ...[0, 16, 32, 48].map(addProducts),
        advance(queryAt, STEP),
        advance(p.rows, STEP),
      ),
      f32.store(p.out, joinLanes(f32.add, sums)),
      advance(p.out, 4),
    ),
  );
});

export function createFloatRows(dimensions: number, capacity: number): FloatRows {
  const memory = createMemory();
  const { dots } = instantiate(assemble([dotsKernel]), memory) as {
    readonly dots: (...places: readonly number[]) => void;
  };
  const bytes = dimensions * 4;
  const out = bytes;
  const rows = out + Math.ceil(capacity / 4) * 16;
  memory.grow(Math.ceil((rows + capacity * bytes) / PAGE));
  return {
    set: (slot, vector) => new Float32Array(memory.buffer, rows + slot * bytes, dimensions).set(vector),
    score: (query, count) => {
      new Float32Array(memory.buffer, 0, dimensions).set(query);
      dots(rows, count, 0, out, bytes);
      return new Float32Array(memory.buffer, out, count);
    },
  };
}
