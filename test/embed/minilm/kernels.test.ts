import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createArena } from '../../../src/base/wasm/arena.ts';
import { createMiniLmKernels } from '../../../src/embed/minilm/kernels.ts';
import { runsOf } from '../../support/counts.ts';

const arena = createArena();
const kernels = createMiniLmKernels(arena.memory);

/** Puts numbers into fresh memory. */
const put = (values: readonly number[]): number => {
  const address = arena.take(values.length * 4);
  arena.floats(address, values.length).set(values);
  return address;
};
const numbers = (count: number) =>
  fc.array(fc.float({ min: -8, max: 8, noNaN: true }), { minLength: count, maxLength: count });
const closeTo = (got: Float32Array, wanted: readonly number[], error: number): void => {
  expect(got).toHaveLength(wanted.length);
  for (const [index, value] of got.entries())
    expect(Math.abs(value - (wanted[index] ?? 0))).toBeLessThan(error);
};

describe('the kernels', () => {
  it('expand every finite half-precision number exactly', () => {
    const finite = Array.from({ length: 0x10000 }, (_, bits) => bits).filter(
      (bits) => (bits & 0x7c00) !== 0x7c00,
    );
    const [from, to] = [arena.take(finite.length * 2), arena.take(finite.length * 4)];
    arena.shorts(from, finite.length).set(finite);
    kernels.expand(from, to, finite.length);
    const wanted = finite.map((bits) => {
      const [exponent, fraction] = [(bits >> 10) & 0x1f, (bits & 0x3ff) / 1024];
      const size = exponent === 0 ? fraction * 2 ** -14 : (1 + fraction) * 2 ** (exponent - 15);
      return bits & 0x8000 ? -size : size;
    });
    expect([...arena.floats(to, finite.length)]).toEqual(wanted);
  });

  it('quantize rows to within half a step, and zeros to zeros', () => {
    fc.assert(
      fc.property(fc.oneof(numbers(16), fc.constant(new Array<number>(16).fill(0))), (row) => {
        const [x, to, scale] = [put(row), arena.take(32), arena.take(4)];
        kernels.quantize(x, to, scale, 1, 16, 1000);
        const step = arena.floats(scale, 1)[0] ?? 0;
        expect(step).toBeGreaterThan(0);
        closeTo(
          Float32Array.from(arena.shorts(to, 16), (value) => value * step),
          row,
          step * 0.51 + 1e-37,
        );
      }),
    );
  });

  it('multiply any number of rows like plain arithmetic', () => {
    const [inputs, outputs] = [6, 16];
    const small = fc.integer({ min: -127, max: 127 });
    const grid = (count: number) => fc.array(small, { minLength: count, maxLength: count });
    const shape = fc
      .integer({ min: 1, max: 9 })
      .chain((rows) => fc.tuple(fc.constant(rows), grid(rows * inputs), grid(outputs * inputs)));
    fc.assert(
      fc.property(shape, ([rows, x, w]) => {
        const [from, weights, out] = [
          arena.take(x.length * 2),
          arena.take(w.length),
          arena.take(rows * outputs * 4),
        ];
        arena.shorts(from, x.length).set(x);
        const packed = arena.bytes(weights, w.length);
        w.forEach((value, index) => {
          const [n, k] = [Math.floor(index / inputs), index % inputs];
          packed[(n - (n % 8)) * inputs + (k >> 1) * 16 + (n % 8) * 2 + (k & 1)] = value;
        });
        const scales = put(Array.from({ length: rows }, (_, row) => row + 1));
        const wScales = put(Array.from({ length: outputs }, (_, n) => n + 0.5));
        const bias = put(Array.from({ length: outputs }, (_, n) => -n));
        kernels.linear(from, scales, weights, wScales, bias, out, rows, inputs, outputs);
        const wanted = Array.from({ length: rows * outputs }, (_, index) => {
          const [row, n] = [Math.floor(index / outputs), index % outputs];
          let sum = 0;
          for (let k = 0; k < inputs; k++) sum += (x[row * inputs + k] ?? 0) * (w[n * inputs + k] ?? 0);
          return sum * (row + 1) * (n + 0.5) - n;
        });
        closeTo(arena.floats(out, wanted.length), wanted, 2);
      }),
      runsOf(16, 50),
    );
  });

  it('compute GELU at known points', () => {
    const points = [-10, -3, -1, -0.5, 0, 0.5, 1, 3];
    const x = put(points);
    kernels.gelu(x, points.length);
    const wanted = [0, -0.0040497, -0.1586553, -0.1542688, 0, 0.3457312, 0.8413447, 2.9959503];
    closeTo(arena.floats(x, points.length), wanted, 1e-6);
  });

  it('compute softmax attention for any number of tokens', () => {
    const [head, stride] = [32, 1152];
    const shape = fc.integer({ min: 1, max: 7 }).chain((tokens) => numbers(tokens * 3 * head));
    fc.assert(
      fc.property(shape, (values) => {
        const tokens = values.length / (3 * head);
        const at = (part: number, token: number) =>
          values.slice((part * tokens + token) * head, (part * tokens + token + 1) * head);
        const [rows, out] = [arena.take(tokens * stride * 4), arena.take(tokens * 384 * 4)];
        const scores = arena.take((tokens + 4) * 4);
        for (let token = 0; token < tokens; token++) {
          for (const part of [0, 1, 2]) {
            arena.floats(rows + (token * stride + part * 384) * 4, head).set(at(part, token));
          }
        }
        kernels.attend(rows, rows + 384 * 4, rows + 768 * 4, out, scores, tokens);
        for (let token = 0; token < tokens; token++) {
          const every = Array.from({ length: tokens }, (_, other) => other);
          const score = every.map(
            (other) =>
              at(0, token).reduce((sum, value, i) => sum + value * (at(1, other)[i] ?? 0), 0) /
              Math.sqrt(head),
          );
          const weight = score.map((value) => Math.exp(value - Math.max(...score)));
          const total = weight.reduce((sum, value) => sum + value);
          const wanted = at(0, 0).map(
            (_, i) =>
              every.reduce((sum, other) => sum + (weight[other] ?? 0) * (at(2, other)[i] ?? 0), 0) / total,
          );
          closeTo(arena.floats(out + token * 384 * 4, head), wanted, 1e-3);
        }
      }),
      runsOf(16, 50),
    );
  });
});
