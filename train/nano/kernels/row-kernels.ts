import {
  advance,
  block,
  type Code,
  f32,
  f32x4,
  forLoop,
  i32,
  type KernelScope,
  kernel,
  type Local,
  powerOfTwo,
  reduceFloatLanes,
  v128,
} from '../../../src/base/wasm/assembler.ts';

/** out = x · gain / √(mean(x²) + eps), row by row; the factor of each row is written to `factors`. `eps` is the address of a float. */
export const normKernel = kernel(
  'norm',
  ['x', 'gain', 'out', 'factors', 'eps', 'rows', 'width'],
  (p, scope) => {
    const [row, i, bytes] = [scope.i32(), scope.i32(), scope.i32()];
    const [sum, value, factor] = [scope.v128(), scope.v128(), scope.f32()];
    const overRow = (...body: readonly Code[]): Code => forLoop(i, bytes, 16, ...body);
    const mean = f32.div(reduceFloatLanes(f32.add, sum), f32.fromInt(p.width));
    return block(
      bytes.set(i32.mul(p.width, 4)),
      forLoop(
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
      forLoop(
        row,
        p.rows,
        1,
        sum.set(0),
        forLoop(i, bytes, 16, scaled, sum.set(f32x4.add(sum, f32x4.mul(value, x)))),
        factor.set(f32.load(p.factors)),
        mean.set(f32.div(reduceFloatLanes(f32.add, sum), f32.fromInt(p.width))),
        share.set(f32x4.splat(f32.mul(mean, f32.mul(factor, factor)))),
        forLoop(
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

/** Beyond this the sigmoid is 0 within float precision, and 2^x would overflow. */
const HIGHEST_POWER = 126;

/** share = 1 / (1 + e^-gate). */
const sigmoid = (share: Local, gate: Local, scope: KernelScope): Code =>
  block(
    share.set(f32x4.min(HIGHEST_POWER, f32x4.mul(gate, -Math.LOG2E))),
    powerOfTwo(share, scope),
    share.set(f32x4.div(1, f32x4.add(1, share))),
  );

/** SwiGLU. A row of x has `inner` gates, then `inner` values; out = gate · sigmoid(gate) · value. */
export const gateKernel = kernel('gate', ['x', 'out', 'rows', 'inner'], (p, scope) => {
  const [row, i, bytes] = [scope.i32(), scope.i32(), scope.i32()];
  const [gate, share] = [scope.v128(), scope.v128()];
  return block(
    bytes.set(i32.mul(p.inner, 4)),
    forLoop(
      row,
      p.rows,
      1,
      forLoop(
        i,
        bytes,
        16,
        gate.set(v128.load(p.x)),
        sigmoid(share, gate, scope),
        v128.store(p.out, f32x4.mul(f32x4.mul(gate, share), v128.load(i32.add(p.x, bytes)))),
        advance(p.x, 16),
        advance(p.out, 16),
      ),
      advance(p.x, bytes),
    ),
  );
});

/** The gradient of `gate`: dx, in the layout of x, from `back`, the gradient of its output. */
export const gateBackKernel = kernel('gateBack', ['x', 'back', 'dx', 'rows', 'inner'], (p, scope) => {
  const [row, i, bytes] = [scope.i32(), scope.i32(), scope.i32()];
  const [gate, share, back, slope] = [scope.v128(), scope.v128(), scope.v128(), scope.v128()];
  return block(
    bytes.set(i32.mul(p.inner, 4)),
    forLoop(
      row,
      p.rows,
      1,
      forLoop(
        i,
        bytes,
        16,
        gate.set(v128.load(p.x)),
        sigmoid(share, gate, scope),
        back.set(v128.load(p.back)),
        slope.set(f32x4.mul(share, f32x4.add(1, f32x4.mul(gate, f32x4.sub(1, share))))),
        v128.store(p.dx, f32x4.mul(f32x4.mul(back, v128.load(i32.add(p.x, bytes))), slope)),
        v128.store(i32.add(p.dx, bytes), f32x4.mul(f32x4.mul(back, gate), share)),
        ...[p.x, p.back, p.dx].map((address) => advance(address, 16)),
      ),
      advance(p.x, bytes),
      advance(p.dx, bytes),
    ),
  );
});

const MINUS_INFINITY = -1e30;

/** For each row of logits two floats: the largest logit, and Σ e^(logit - largest). */
export const measureKernel = kernel('measure', ['logits', 'to', 'rows', 'columns'], (p, scope) => {
  const [row, i, bytes] = [scope.i32(), scope.i32(), scope.i32()];
  const [value, sum, best] = [scope.v128(), scope.v128(), scope.f32()];
  const logit = v128.load(i32.add(p.logits, i));
  return block(
    bytes.set(i32.mul(p.columns, 4)),
    forLoop(
      row,
      p.rows,
      1,
      sum.set(MINUS_INFINITY),
      forLoop(i, bytes, 16, sum.set(f32x4.max(logit, sum))),
      best.set(reduceFloatLanes(f32.max, sum)),
      sum.set(0),
      forLoop(
        i,
        bytes,
        16,
        value.set(f32x4.mul(f32x4.sub(logit, f32x4.splat(best)), Math.LOG2E)),
        powerOfTwo(value, scope),
        sum.set(f32x4.add(sum, value)),
      ),
      f32.store(p.to, best),
      f32.store(p.to, reduceFloatLanes(f32.add, sum), 4),
      advance(p.logits, bytes),
      advance(p.to, 8),
    ),
  );
});

/** to = factor · e^(logit - largest), with one factor for each row and the largest logit from `measure`. */
export const exponentiateKernel = kernel(
  'exponentiate',
  ['logits', 'measures', 'factors', 'to', 'rows', 'columns'],
  (p, scope) => {
    const [row, i, bytes] = [scope.i32(), scope.i32(), scope.i32()];
    const [value, best, factor] = [scope.v128(), scope.v128(), scope.v128()];
    return block(
      bytes.set(i32.mul(p.columns, 4)),
      forLoop(
        row,
        p.rows,
        1,
        best.set(v128.loadSplat(p.measures)),
        factor.set(v128.loadSplat(p.factors)),
        forLoop(
          i,
          bytes,
          16,
          value.set(f32x4.mul(f32x4.sub(v128.load(i32.add(p.logits, i)), best), Math.LOG2E)),
          powerOfTwo(value, scope),
          v128.store(i32.add(p.to, i), f32x4.mul(value, factor)),
        ),
        advance(p.logits, bytes),
        advance(p.to, bytes),
        advance(p.measures, 8),
        advance(p.factors, 4),
      ),
    );
  },
);
