import type { Embed } from '../../src/core/embed.ts';
import { createPlainKernel } from '../../src/library/recall/dot-kernel.ts';
import { createVectorRows } from '../../src/library/recall/vector-rows.ts';
import { createFloatRows } from './float-rows.ts';
import type { PairLesson } from './pairs.ts';
import { createRandom, randomVector } from './synthetic.ts';
import { milliseconds, quantile, table } from './table.ts';

export interface Scans {
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
export function measureScans(size: number): Scans {
  const random = createRandom(size);
  const vectors = Array.from({ length: size }, () => randomVector(random, DIMENSIONS));
  const queries = Array.from({ length: QUERIES }, () => randomVector(random, DIMENSIONS));
  return compare(`${size}, random`, vectors, queries);
}

export async function measureRealScan(
  embed: Embed,
  lessons: readonly PairLesson[],
  queries: readonly string[],
): Promise<Scans> {
  const texts = lessons.flatMap(({ description, content }) => [description, ...content.split('. ')]);
  const rows = await embed.embed(texts);
  return compare(`${rows.length}, MiniLM`, rows, await embed.embed(queries));
}

function compare(rows: string, vectors: readonly Float32Array[], queries: readonly Float32Array[]): Scans {
  const count = vectors.length;
  const floats = createFloatRows(DIMENSIONS, count);
  const bytes = createVectorRows(DIMENSIONS);
  const plain = createVectorRows(DIMENSIONS, createPlainKernel());
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

export const reportScans = (found: readonly Scans[]): string =>
  table(
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
