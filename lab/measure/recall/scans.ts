import { createWasmMemory, instantiate } from '../../../src/base/wasm/arena.ts';
import {
  advance,
  assemble,
  block,
  type Code,
  f32,
  f32x4,
  forLoop,
  kernel,
  reduceFloatLanes,
  v128,
} from '../../../src/base/wasm/assembler.ts';
import type { EmbeddingModel } from '../../../src/core/recall.ts';
import { createInt8Vectors, createPlainKernel } from '../../../src/lessons/recall/int8-vectors.ts';
import { markdownTable, milliseconds, quantile } from '../markdown.ts';
import { createMulberry32, type PairLesson, randomVector } from './synthetic.ts';

/** The same scan over 32-bit floats: the baseline for the scan over bytes. */
interface FloatRows {
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
    forLoop(
      row,
      p.count,
      1,
      sums.set(0),
      queryAt.set(p.query),
      forLoop(
        at,
        p.bytes,
        STEP,
        ...[0, 16, 32, 48].map(addProducts),
        advance(queryAt, STEP),
        advance(p.rows, STEP),
      ),
      f32.store(p.out, reduceFloatLanes(f32.add, sums)),
      advance(p.out, 4),
    ),
  );
});

function createFloatRows(dimensions: number, capacity: number): FloatRows {
  const memory = createWasmMemory();
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

interface ScanTimes {
  readonly rows: string;
  /** The share of the ten best by floats that bytes find. */
  readonly recallAt10: number;
  readonly floatMs: number;
  readonly byteMs: number;
  readonly plainMs: number;
}

const DIMENSIONS = 384;
const QUERIES = 30;

/** Scan time and recall of bytes against floats. Random vectors are the worst case: no vector stands out. */
export function measureScans(size: number): ScanTimes {
  const random = createMulberry32(size);
  const vectors = Array.from({ length: size }, () => randomVector(random, DIMENSIONS));
  const queries = Array.from({ length: QUERIES }, () => randomVector(random, DIMENSIONS));
  return compare(`${size}, random`, vectors, queries);
}

export async function measureRealScan(
  embed: EmbeddingModel,
  lessons: readonly PairLesson[],
  queries: readonly string[],
): Promise<ScanTimes> {
  const texts = lessons.flatMap(({ description, content }) => [description, ...content.split('. ')]);
  const rows = await embed.embed(texts);
  return compare(`${rows.length}, MiniLM`, rows, await embed.embed(queries));
}

function compare(
  rows: string,
  vectors: readonly Float32Array[],
  queries: readonly Float32Array[],
): ScanTimes {
  const count = vectors.length;
  const floats = createFloatRows(DIMENSIONS, count);
  const bytes = createInt8Vectors(DIMENSIONS);
  const plain = createInt8Vectors(DIMENSIONS, createPlainKernel());
  for (const [slot, vector] of vectors.entries())
    for (const to of [floats, bytes, plain]) to.set(slot, vector);
  const scores = new Float32Array(count);
  const found = queries.map((query) => {
    const [floatMs, exact] = timed(() => floats.score(query, count).slice());
    const [byteMs] = timed(() => bytes.score(bytes.query(query), 0, count, scores));
    const near = new Set(tenBest(scores));
    const [plainMs] = timed(() => plain.score(plain.query(query), 0, count, scores));
    return { floatMs, byteMs, plainMs, hits: tenBest(exact).filter((slot) => near.has(slot)).length };
  });
  const p50 = (of: (one: (typeof found)[number]) => number): number => quantile(found.map(of), 0.5);
  return {
    rows,
    recallAt10: found.reduce((sum, { hits }) => sum + hits, 0) / (found.length * 10),
    floatMs: p50((one) => one.floatMs),
    byteMs: p50((one) => one.byteMs),
    plainMs: p50((one) => one.plainMs),
  };
}

export const reportScans = (found: readonly ScanTimes[]): string =>
  markdownTable(
    ['vectors', 'floats, SIMD', 'bytes, SIMD (used)', 'bytes, plain JavaScript', 'bytes: recall@10'],
    found.map(({ rows, floatMs, byteMs, plainMs, recallAt10 }) => [
      rows,
      ...[floatMs, byteMs, plainMs].map((ms) => `${milliseconds(ms)} ms`),
      recallAt10.toFixed(3),
    ]),
  );

function timed<T>(work: () => T): readonly [ms: number, value: T] {
  const from = performance.now();
  const value = work();
  return [performance.now() - from, value];
}

const tenBest = (scores: Float32Array): readonly number[] =>
  [...scores.keys()].sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0)).slice(0, 10);
