import {
  advance,
  block,
  type Code,
  f32,
  f32x4,
  forLoop,
  i32,
  kernel,
  powerOfTwo,
  reduceFloatLanes,
  v128,
  whileTrue,
} from '../../../src/base/wasm/assembler.ts';

/**
 * Rotary position embedding: rotates each head's pairs (d, d + half) by the angle of its row's position. A row of the table has
 * `half` cosines, then `half` sines; negated sines give the inverse rotation. `half` is a multiple of four.
 */
export const rotateKernel = kernel(
  'rotate',
  ['x', 'xStep', 'table', 'tableStep', 'rows', 'heads', 'half'],
  (p, scope) => {
    const [row, head, i, bytes] = [scope.i32(), scope.i32(), scope.i32(), scope.i32()];
    const [low, high] = [scope.i32(), scope.i32()];
    const [a, b, cosine, sine] = [scope.v128(), scope.v128(), scope.v128(), scope.v128()];
    return block(
      bytes.set(i32.mul(p.half, 4)),
      forLoop(
        row,
        p.rows,
        1,
        low.set(p.x),
        forLoop(
          head,
          p.heads,
          1,
          high.set(i32.add(low, bytes)),
          forLoop(
            i,
            bytes,
            16,
            cosine.set(v128.load(i32.add(p.table, i))),
            sine.set(v128.load(i32.add(i32.add(p.table, bytes), i))),
            a.set(v128.load(i32.add(low, i))),
            b.set(v128.load(i32.add(high, i))),
            v128.store(i32.add(low, i), f32x4.sub(f32x4.mul(a, cosine), f32x4.mul(b, sine))),
            v128.store(i32.add(high, i), f32x4.add(f32x4.mul(b, cosine), f32x4.mul(a, sine))),
          ),
          low.set(i32.add(high, bytes)),
        ),
        advance(p.x, p.xStep),
        advance(p.table, p.tableStep),
      ),
    );
  },
);

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
    return forLoop(
      row,
      p.rows,
      1,
      end.set(i32.add(p.scores, i32.mul(p.seen, 4))),
      // Lanes beyond the last key must not affect the maximum or the sum.
      value.set(MINUS_INFINITY),
      v128.store(end, value),
      sum.set(MINUS_INFINITY),
      overSeen(sum.set(f32x4.max(v128.load(at), sum))),
      best.set(reduceFloatLanes(f32.max, sum)),
      sum.set(0),
      overSeen(
        value.set(f32x4.mul(f32x4.sub(v128.load(at), f32x4.splat(best)), v128.loadSplat(p.sharpness))),
        powerOfTwo(value, scope),
        sum.set(f32x4.add(sum, value)),
        v128.store(at, value),
      ),
      sum.set(f32x4.splat(f32.div(1, reduceFloatLanes(f32.add, sum)))),
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
      forLoop(
        row,
        p.rows,
        1,
        sum.set(0),
        forLoop(i, bytes, 16, sum.set(f32x4.add(sum, f32x4.mul(shares, back)))),
        sum.set(f32x4.splat(reduceFloatLanes(f32.add, sum))),
        forLoop(
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
