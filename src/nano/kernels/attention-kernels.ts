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
  whileTrue,
} from '../../wasm/assembler.ts';
import { powerOfTwo } from '../../wasm/exponential.ts';

const MINUS_INFINITY = -1e30;

/**
 * Softmax of attention scores: row r attends to its first `seen + r · growth` keys, the rest up to `limit` become zeros.
 * `sharpness` is the address of a float, log2(e) / √head. A row has room for four more floats than `limit`.
 */
export const softenKernel = kernel(
  'soften',
  ['scores', 'step', 'rows', 'seen', 'growth', 'limit', 'sharpness'],
  (p, scope) => {
    const [row, at, end, zero] = [scope.i32(), scope.i32(), scope.i32(), scope.f32()];
    const [value, sum, best] = [scope.v128(), scope.v128(), scope.f32()];
    const overSeen = (...body: readonly Code[]): Code =>
      block(at.set(p.scores), whileTrue(i32.lessThan(at, end), ...body, advance(at, 16)));
    return countUp(
      row,
      p.rows,
      1,
      end.set(i32.add(p.scores, i32.mul(p.seen, 4))),
      // Lanes beyond the last key must not affect the maximum or the sum.
      value.set(MINUS_INFINITY),
      v128.store(end, value),
      sum.set(MINUS_INFINITY),
      overSeen(sum.set(f32x4.max(v128.load(at), sum))),
      best.set(joinLanes(f32.max, sum)),
      sum.set(0),
      overSeen(
        value.set(f32x4.mul(f32x4.sub(v128.load(at), f32x4.splat(best)), v128.loadSplat(p.sharpness))),
        powerOfTwo(value, scope),
        sum.set(f32x4.add(sum, value)),
        v128.store(at, value),
      ),
      sum.set(f32x4.splat(f32.div(1, joinLanes(f32.add, sum)))),
      overSeen(v128.store(at, f32x4.mul(v128.load(at), sum))),
      at.set(end),
      end.set(i32.add(p.scores, i32.mul(p.limit, 4))),
      whileTrue(i32.lessThan(at, end), f32.store(at, zero), advance(at, 4)),
      advance(p.scores, p.step),
      advance(p.seen, p.growth),
    );
  },
);

/** The gradient of the softmax, row by row: back = scale · shares · (back - Σ shares·back). `scale` is the address of a float. */
export const softenBackKernel = kernel(
  'softenBack',
  ['shares', 'back', 'step', 'rows', 'limit', 'scale'],
  (p, scope) => {
    const [row, i, bytes] = [scope.i32(), scope.i32(), scope.i32()];
    const [sum, scale] = [scope.v128(), scope.v128()];
    const [shares, back] = [v128.load(i32.add(p.shares, i)), v128.load(i32.add(p.back, i))];
    return block(
      bytes.set(i32.mul(p.limit, 4)),
      scale.set(v128.loadSplat(p.scale)),
      countUp(
        row,
        p.rows,
        1,
        sum.set(0),
        countUp(i, bytes, 16, sum.set(f32x4.add(sum, f32x4.mul(shares, back)))),
        sum.set(f32x4.splat(joinLanes(f32.add, sum))),
        countUp(
          i,
          bytes,
          16,
          v128.store(i32.add(p.back, i), f32x4.mul(f32x4.mul(shares, scale), f32x4.sub(back, sum))),
        ),
        advance(p.shares, p.step),
        advance(p.back, p.step),
      ),
    );
  },
);
