import {
  advance,
  block,
  type Code,
  countUp,
  f32,
  f32x4,
  i32,
  joinLanes,
  kernel,
  v128,
} from '../../wasm/assembler.ts';

/** out = x · gain / √(mean(x²) + eps), row by row; the factor of each row is written to `factors`. `eps` is the address of a float. */
export const normKernel = kernel(
  'norm',
  ['x', 'gain', 'out', 'factors', 'eps', 'rows', 'width'],
  (p, scope) => {
    const [row, i, bytes] = [scope.i32(), scope.i32(), scope.i32()];
    const [sum, value, factor] = [scope.v128(), scope.v128(), scope.f32()];
    const overRow = (...body: readonly Code[]): Code => countUp(i, bytes, 16, ...body);
    const mean = f32.div(joinLanes(f32.add, sum), f32.fromInt(p.width));
    return block(
      bytes.set(i32.mul(p.width, 4)),
      countUp(
        row,
        p.rows,
        1,
        sum.set(0),
        overRow(value.set(v128.load(i32.add(p.x, i))), sum.set(f32x4.add(sum, f32x4.mul(value, value)))),
        factor.set(f32.div(1, f32.sqrt(f32.add(mean, f32.load(p.eps))))),
        f32.store(p.factors, factor),
        overRow(
          value.set(f32x4.mul(v128.load(i32.add(p.x, i)), f32x4.splat(factor))),
          v128.store(i32.add(p.out, i), f32x4.mul(value, v128.load(i32.add(p.gain, i)))),
        ),
        advance(p.x, bytes),
        advance(p.out, bytes),
        advance(p.factors, 4),
      ),
    );
  },
);

/** dx += the gradient of `norm`, given `back`: factor · (gain·back - x · factor² · mean(gain·back·x)). */
export const normBackKernel = kernel(
  'normBack',
  ['x', 'gain', 'factors', 'back', 'dx', 'rows', 'width'],
  (p, scope) => {
    const [row, i, bytes] = [scope.i32(), scope.i32(), scope.i32()];
    const [sum, value, share] = [scope.v128(), scope.v128(), scope.v128()];
    const [factor, mean] = [scope.f32(), scope.f32()];
    const scaled = value.set(f32x4.mul(v128.load(i32.add(p.back, i)), v128.load(i32.add(p.gain, i))));
    const x = v128.load(i32.add(p.x, i));
    return block(
      bytes.set(i32.mul(p.width, 4)),
      countUp(
        row,
        p.rows,
        1,
        sum.set(0),
        countUp(i, bytes, 16, scaled, sum.set(f32x4.add(sum, f32x4.mul(value, x)))),
        factor.set(f32.load(p.factors)),
        mean.set(f32.div(joinLanes(f32.add, sum), f32.fromInt(p.width))),
        share.set(f32x4.splat(f32.mul(mean, f32.mul(factor, factor)))),
        countUp(
          i,
          bytes,
          16,
          scaled,
          value.set(f32x4.mul(f32x4.sub(value, f32x4.mul(x, share)), f32x4.splat(factor))),
          v128.store(i32.add(p.dx, i), f32x4.add(v128.load(i32.add(p.dx, i)), value)),
        ),
        ...[p.x, p.back, p.dx].map((address) => advance(address, bytes)),
        advance(p.factors, 4),
      ),
    );
  },
);
