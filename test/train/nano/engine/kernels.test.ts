import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createArena } from '../../../../src/base/wasm/arena.ts';
import { createNanoKernels } from '../../../../train/nano/kernels/nano-kernels.ts';
import { closeTo, randomNumbers } from './small-model.ts';

const arena = createArena();
const kernels = createNanoKernels(arena.memory);
const put = (values: ArrayLike<number>): number => {
  const address = arena.take(values.length * 4);
  arena.floats(address, values.length).set(values);
  return address;
};
const room = (count: number): number => put(new Float32Array(count).fill(9));
const read = (address: number, count: number): number[] => [...arena.floats(address, count)];
const grid = (rows: number, columns: number, value: (row: number, column: number) => number): number[] =>
  Array.from({ length: rows * columns }, (_, i) => value(Math.floor(i / columns), i % columns));
const sumOver = (count: number, term: (i: number) => number): number => {
  let sum = 0;
  for (let i = 0; i < count; i++) sum += term(i);
  return sum;
};
const at = (values: ArrayLike<number>, i: number): number => values[i] ?? Number.NaN;
const count = (most: number) => fc.integer({ min: 1, max: most });
const seed = fc.integer({ min: 0, max: 1e6 });

describe('matmul over packed panels', () => {
  it('is x·Wᵀ for any number of rows and outputs, with any row stride, and accumulates on demand', () => {
    let odd = 0;
    fc.assert(
      fc.property(count(11), count(5), count(21), fc.boolean(), seed, (rows, fours, outputs, isAdded, s) => {
        const inputs = 4 * fours;
        const full = Math.ceil(outputs / 8) * 8;
        odd += rows % 4 === 0 ? 0 : 1;
        const x = randomNumbers(rows * (inputs + 3), s, -2, 2);
        const w = randomNumbers(outputs * inputs, s + 1, -2, 2);
        const [packed, out] = [room(full * inputs), room(rows * (full + 4))];
        kernels.pack(put(w), inputs * 4, 4, packed, inputs * 32, outputs, inputs);
        kernels.matmul(
          put(x),
          (inputs + 3) * 4,
          packed,
          inputs * 32,
          out,
          (full + 4) * 4,
          rows,
          inputs,
          full,
          isAdded ? 1 : 0,
        );
        const wanted = grid(rows, full + 4, (m, n) => {
          if (n >= full) return 9;
          const product =
            n < outputs ? sumOver(inputs, (k) => at(x, m * (inputs + 3) + k) * at(w, n * inputs + k)) : 0;
          return product + (isAdded ? 9 : 0);
        });
        expect(closeTo(read(out, wanted.length), wanted)).toBeLessThan(1e-4);
      }),
    );
    expect(odd).toBeGreaterThan(20);
  });

  it('gives a row the same bits whatever other rows are computed with it', () => {
    const [inputs, outputs] = [96, 16];
    const [x, w] = [put(randomNumbers(7 * inputs, 1, -1, 1)), put(randomNumbers(outputs * inputs, 2, -1, 1))];
    const [packed, all, one] = [room(outputs * inputs), room(7 * outputs), room(outputs)];
    kernels.pack(w, inputs * 4, 4, packed, inputs * 32, outputs, inputs);
    kernels.matmul(x, inputs * 4, packed, inputs * 32, all, outputs * 4, 7, inputs, outputs, 0);
    for (let row = 0; row < 7; row++) {
      kernels.matmul(
        x + row * inputs * 4,
        inputs * 4,
        packed,
        inputs * 32,
        one,
        outputs * 4,
        1,
        inputs,
        outputs,
        0,
      );
      expect(read(one, outputs)).toEqual(read(all + row * outputs * 4, outputs));
    }
  });

  it('multiplies by the transpose when packed with the steps swapped', () => {
    const [inputs, outputs] = [8, 12];
    const w = randomNumbers(outputs * inputs, 5, -1, 1);
    const dy = randomNumbers(3 * outputs, 6, -1, 1);
    const [packed, dx] = [room(inputs * outputs), room(3 * inputs)];
    kernels.pack(put(w), 4, inputs * 4, packed, outputs * 32, inputs, outputs);
    kernels.matmul(put(dy), outputs * 4, packed, outputs * 32, dx, inputs * 4, 3, outputs, inputs, 0);
    const wanted = grid(3, inputs, (m, k) =>
      sumOver(outputs, (n) => at(dy, m * outputs + n) * at(w, n * inputs + k)),
    );
    expect(closeTo(read(dx, wanted.length), wanted)).toBeLessThan(1e-5);
  });
});

describe('the other kernels', () => {
  it('add outer products over any number of rows', () => {
    fc.assert(
      fc.property(count(19), count(4), count(3), seed, (rows, fours, eights, s) => {
        const [left, right] = [4 * fours, 8 * eights];
        const [a, b] = [randomNumbers(rows * left, s, -1, 1), randomNumbers(rows * right, s + 1, -1, 1)];
        const out = room(left * right);
        kernels.addOuter(put(a), left * 4, put(b), right * 4, out, right * 4, rows, left, right);
        const wanted = grid(
          left,
          right,
          (i, j) => 9 + sumOver(rows, (m) => at(a, m * left + i) * at(b, m * right + j)),
        );
        expect(closeTo(read(out, wanted.length), wanted)).toBeLessThan(1e-4);
      }),
    );
  });

  it('compute RMS norm and its gradient', () => {
    fc.assert(
      fc.property(count(5), count(5), seed, (rows, fours, s) => {
        const width = 4 * fours;
        const [x, gain] = [randomNumbers(rows * width, s, -3, 3), randomNumbers(width, s + 1, 0.5, 2)];
        const back = randomNumbers(rows * width, s + 2, -1, 1);
        const [xAt, gainAt] = [put(x), put(gain)];
        const [out, factors, dx] = [room(rows * width), room(rows), room(rows * width)];
        kernels.norm(xAt, gainAt, out, factors, put([1e-5]), rows, width);
        const factor = (row: number): number =>
          1 / Math.sqrt(sumOver(width, (i) => at(x, row * width + i) ** 2) / width + 1e-5);
        const wanted = grid(rows, width, (row, i) => at(x, row * width + i) * factor(row) * at(gain, i));
        expect(closeTo(read(out, wanted.length), wanted)).toBeLessThan(1e-4);
        kernels.normBack(xAt, gainAt, factors, put(back), dx, rows, width);
        const slope = grid(rows, width, (row, i) => {
          const f = factor(row);
          const mean =
            sumOver(width, (k) => at(back, row * width + k) * at(gain, k) * at(x, row * width + k)) / width;
          return 9 + f * (at(gain, i) * at(back, row * width + i) - at(x, row * width + i) * f * f * mean);
        });
        expect(closeTo(read(dx, slope.length), slope)).toBeLessThan(2e-3);
      }),
    );
  });

  it('rotate pairs half a head apart, and back', () => {
    const [rows, heads, half] = [3, 2, 4];
    const x = randomNumbers(rows * heads * 2 * half, 1, -1, 1);
    const angles = randomNumbers(rows * half, 2, -3, 3);
    const table = (sign: number): number =>
      put(
        grid(rows, 2 * half, (row, i) =>
          i < half
            ? Math.cos(at(angles, row * half + i))
            : sign * Math.sin(at(angles, row * half + i - half)),
        ),
      );
    const xAt = put(x);
    kernels.rotate(xAt, heads * 2 * half * 4, table(1), 2 * half * 4, rows, heads, half);
    const wanted = grid(rows, heads * 2 * half, (row, i) => {
      const [d, start] = [i % (2 * half), row * heads * 2 * half + i];
      const angle = at(angles, row * half + (d % half));
      const other = d < half ? -at(x, start + half) : at(x, start - half);
      return at(x, start) * Math.cos(angle) + other * Math.sin(angle);
    });
    expect(closeTo(read(xAt, wanted.length), wanted)).toBeLessThan(1e-6);
    kernels.rotate(xAt, heads * 2 * half * 4, table(-1), 2 * half * 4, rows, heads, half);
    expect(closeTo(read(xAt, x.length), x)).toBeLessThan(1e-6);
  });

  it('compute SwiGLU and its gradient, for very small and very large inputs', () => {
    const gates = [-1000, -90, -20, -1, 0, 0.5, 20, 1000];
    const ups = randomNumbers(8, 3, -2, 2);
    const back = randomNumbers(8, 4, -2, 2);
    const [x, out, dx] = [put([...gates, ...ups]), room(8), room(16)];
    kernels.gate(x, out, 1, 8);
    const share = gates.map((g) => 1 / (1 + Math.exp(-g)));
    expect(
      closeTo(
        read(out, 8),
        gates.map((g, i) => g * at(share, i) * at(ups, i)),
      ),
    ).toBeLessThan(1e-3);
    kernels.gateBack(x, put(back), dx, 1, 8);
    const dGate = gates.map((g, i) => at(back, i) * at(ups, i) * at(share, i) * (1 + g * (1 - at(share, i))));
    const dUp = gates.map((g, i) => at(back, i) * g * at(share, i));
    expect(closeTo(read(dx, 16), [...dGate, ...dUp])).toBeLessThan(1e-3);
  });

  it('compute the softmax of each row over its visible keys, with exact zeros beyond, and its gradient', () => {
    fc.assert(
      fc.property(count(6), count(9), seed, (rows, seen, s) => {
        const limit = Math.ceil((seen + rows) / 8) * 8;
        const columns = limit + 4;
        const scores = randomNumbers(rows * columns, s, -5, 5);
        const back = randomNumbers(rows * columns, s + 1, -1, 1);
        const [scoresAt, backAt] = [put(scores), put(back)];
        kernels.soften(scoresAt, columns * 4, rows, seen, 1, limit, put([Math.LOG2E * 0.7]));
        const shares = grid(rows, limit, (row, i) => {
          if (i >= seen + row) return 0;
          return (
            Math.exp(0.7 * at(scores, row * columns + i)) /
            sumOver(seen + row, (k) => Math.exp(0.7 * at(scores, row * columns + k)))
          );
        });
        const got = grid(rows, limit, (row, i) =>
          at(arena.floats(scoresAt, rows * columns), row * columns + i),
        );
        expect(closeTo(got, shares)).toBeLessThan(1e-6);
        expect(got.filter((value) => value === 0)).toHaveLength(sumOver(rows, (row) => limit - seen - row));
        kernels.softenBack(scoresAt, backAt, columns * 4, rows, limit, put([0.7]));
        const slopes = grid(rows, limit, (row, i) => {
          const mean = sumOver(limit, (k) => at(shares, row * limit + k) * at(back, row * columns + k));
          return 0.7 * at(shares, row * limit + i) * (at(back, row * columns + i) - mean);
        });
        const found = grid(rows, limit, (row, i) =>
          at(arena.floats(backAt, rows * columns), row * columns + i),
        );
        expect(closeTo(found, slopes)).toBeLessThan(1e-5);
      }),
    );
  });

  it('compute the softmax of logits of any size', () => {
    const logits = [...randomNumbers(8, 1, -90, 90), ...randomNumbers(8, 2, 3000, 3002)];
    const [at8, measures, to] = [put(logits), room(4), room(16)];
    kernels.measure(at8, measures, 2, 8);
    const rows = [logits.slice(0, 8), logits.slice(8)].map((row) => row.map(Math.fround));
    const wanted = rows.flatMap((row) => [
      Math.max(...row),
      row.reduce((sum, z) => sum + Math.exp(z - Math.max(...row)), 0),
    ]);
    expect(closeTo(read(measures, 4), wanted)).toBeLessThan(1e-4);
    kernels.exponentiate(at8, measures, put([2, -3]), to, 2, 8);
    const raised = rows.flatMap((row, r) =>
      row.map((z) => (r === 0 ? 2 : -3) * Math.exp(z - Math.max(...row))),
    );
    expect(closeTo(read(to, 16), raised)).toBeLessThan(1e-5);
  });

  it('add arrays', () => {
    const [a, b] = [randomNumbers(12, 1, -1, 1), randomNumbers(12, 2, -1, 1)];
    const to = put(a);
    kernels.add(to, put(b), 12);
    expect(read(to, 12)).toEqual([...a].map((value, i) => Math.fround(value + at(b, i))));
  });
});
