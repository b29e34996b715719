import {
  advance,
  block,
  type Code,
  countUp,
  f32,
  f32x4,
  i16x8,
  i32,
  i32x4,
  joinLanes,
  kernel,
  type Local,
  v128,
} from '../../../wasm/assembler.ts';
import { HIDDEN } from './shape.ts';

const ROW_BYTES = HIDDEN * 4;
const EPSILON = 1e-12;
const SMALLEST = 1.2e-38;
/** Keeps the sign and, from bit 13 on, the exponent and fraction of a half that was widened and shifted. */
const HALF_BITS = 0x8fffe000 | 0;
/** The exponent of a half is biased by 15, that of a float by 127. */
const HALF_BIAS = 2 ** (127 - 15);

/** Half-precision numbers as floats. */
export const expandKernel = kernel('expand', ['halves', 'to', 'count'], (p, scope) => {
  const bits = i32x4.shiftLeft(v128.loadShorts(p.halves), 13);
  return countUp(
    scope.i32(),
    p.count,
    4,
    v128.store(p.to, f32x4.mul(v128.and(bits, i32x4.splat(HALF_BITS)), HALF_BIAS)),
    advance(p.halves, 8),
    advance(p.to, 16),
  );
});

/** Quantises each row to 16-bit integers of at most `limit`, and stores its scale. A row of zeros stays zero. */
export const quantizeKernel = kernel(
  'quantize',
  ['x', 'to', 'scale', 'rows', 'width', 'limit'],
  (p, scope) => {
    const [row, i, bytes] = [scope.i32(), scope.i32(), scope.i32()];
    const [largest, factor] = [scope.v128(), scope.v128()];
    const [peak, limit] = [scope.f32(), scope.f32()];
    const here = i32.add(p.x, i);
    const rounded = (offset: number): Code =>
      i32x4.fromFloat(f32x4.nearest(f32x4.mul(v128.load(here, offset), factor)));
    return block(
      bytes.set(i32.mul(p.width, 4)),
      limit.set(f32.fromInt(p.limit)),
      countUp(
        row,
        p.rows,
        1,
        largest.set(SMALLEST),
        countUp(i, bytes, 16, largest.set(f32x4.max(f32x4.abs(v128.load(here)), largest))),
        peak.set(joinLanes(f32.max, largest)),
        f32.store(p.scale, f32.div(peak, limit)),
        factor.set(f32x4.splat(f32.div(limit, peak))),
        countUp(i, bytes, 32, v128.store(p.to, i16x8.narrow(rounded(0), rounded(16))), advance(p.to, 16)),
        advance(p.x, bytes),
        advance(p.scale, 4),
      ),
    );
  },
);

/** x = layerNorm(x + added), row by row. */
export const addNormKernel = kernel('addNorm', ['x', 'added', 'gain', 'bias', 'rows'], (p, scope) => {
  const [row, i] = [scope.i32(), scope.i32()];
  const [sum, value, mean, factor] = [scope.v128(), scope.v128(), scope.v128(), scope.v128()];
  const here = i32.add(p.x, i);
  const overRow = (...body: readonly Code[]): Code => countUp(i, ROW_BYTES, 16, ...body);
  const average = (of: Local): Code => f32.div(joinLanes(f32.add, of), HIDDEN);
  const scaled = f32x4.mul(f32x4.mul(v128.load(here), factor), v128.load(i32.add(p.gain, i)));
  return countUp(
    row,
    p.rows,
    1,
    sum.set(0),
    overRow(
      value.set(f32x4.add(v128.load(here), v128.load(i32.add(p.added, i)))),
      sum.set(f32x4.add(sum, value)),
      v128.store(here, value),
    ),
    mean.set(f32x4.splat(average(sum))),
    sum.set(0),
    overRow(
      value.set(f32x4.sub(v128.load(here), mean)),
      sum.set(f32x4.add(sum, f32x4.mul(value, value))),
      v128.store(here, value),
    ),
    factor.set(f32x4.splat(f32.div(1, f32.sqrt(f32.add(average(sum), EPSILON))))),
    overRow(v128.store(here, f32x4.add(scaled, v128.load(i32.add(p.bias, i))))),
    advance(p.x, ROW_BYTES),
    advance(p.added, ROW_BYTES),
  );
});
