import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createInt8Vectors,
  createPlainKernel,
  createSimdKernel,
} from '../../../src/lessons/recall/int8-vectors.ts';
import { runsOf } from '../../support/counts.ts';

const simd = () => {
  const kernel = createSimdKernel();
  if (kernel === undefined) throw new Error('this Node has no SIMD');
  return kernel;
};
const unit = (numbers: readonly number[]): Float32Array => {
  const length = Math.hypot(...numbers) || 1;
  return Float32Array.from(numbers, (value) => value / length);
};
const vectors = (dimensions: number) =>
  fc
    .array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: dimensions, maxLength: dimensions })
    .map(unit);

describe('int8 vectors', () => {
  it('score the same bits with SIMD and without, for any width', () => {
    fc.assert(
      fc.property(
        fc
          .constantFrom(1, 31, 32, 100, 384, 1536)
          .chain((dimensions) =>
            fc.tuple(
              fc.array(vectors(dimensions), { minLength: 1, maxLength: 9 }),
              vectors(dimensions),
              fc.constant(dimensions),
            ),
          ),
        ([rows, query, dimensions]) => {
          const [fast, plain] = [simd(), createPlainKernel()].map((kernel) => {
            const table = createInt8Vectors(dimensions, kernel);
            for (const [slot, row] of rows.entries()) table.set(slot * 3, row);
            const scores = new Float32Array(table.length);
            table.score(table.query(query), 0, table.length, scores);
            return [...scores];
          });
          expect(fast).toEqual(plain);
        },
      ),
      runsOf(13, 40),
    );
  });

  it('give the cosine to within 0.01 (not only the rank)', () => {
    fc.assert(
      fc.property(fc.array(vectors(384), { minLength: 2, maxLength: 4 }), ([query, ...rows]) => {
        if (query === undefined) return;
        const table = createInt8Vectors(384);
        for (const [slot, row] of rows.entries()) table.set(slot, row);
        const scores = new Float32Array(rows.length);
        table.score(table.query(query), 0, rows.length, scores);
        for (const [slot, row] of rows.entries())
          expect(scores[slot]).toBeCloseTo(
            row.reduce((sum, value, at) => sum + value * (query[at] ?? 0), 0),
            2,
          );
      }),
      runsOf(8, 20),
    );
  });

  it('keep their content while they grow past many slices, and drop cleared slots', () => {
    const table = createInt8Vectors(32);
    const row = (slot: number): Float32Array =>
      unit(Array.from({ length: 32 }, (_, at) => Math.sin(slot + at)));
    for (let slot = 0; slot < 20_000; slot++) table.set(slot, row(slot));
    table.clear(12_345);
    const scores = new Float32Array(table.length);
    table.score(table.query(row(19_999)), 0, table.length, scores);
    expect(scores[19_999]).toBeCloseTo(1, 2);
    expect(scores[12_345]).toBe(0);
    expect(table.has(12_345)).toBe(false);
    expect(table.read(7)[3]).toBeCloseTo(row(7)[3] ?? Number.NaN, 2);
  });

  it('score only the requested slots', () => {
    const table = createInt8Vectors(32);
    for (let slot = 0; slot < 5; slot++) table.set(slot, unit([1, slot]));
    const scores = new Float32Array(5).fill(-9);
    table.score(table.query(unit([1])), 2, 4, scores);
    expect([...scores].map((score) => score === -9)).toEqual([true, true, false, false, true]);
  });
});
