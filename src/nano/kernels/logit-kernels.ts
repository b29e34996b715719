import { advance, block, countUp, f32, f32x4, i32, joinLanes, kernel, v128 } from '../../wasm/assembler.ts';
import { powerOfTwo } from '../../wasm/exponential.ts';

const MINUS_INFINITY = -1e30;

/** For each row of logits two floats: the largest logit, and Σ e^(logit - largest). */
export const measureKernel = kernel('measure', ['logits', 'to', 'rows', 'columns'], (p, scope) => {
  const [row, i, bytes] = [scope.i32(), scope.i32(), scope.i32()];
  const [value, sum, best] = [scope.v128(), scope.v128(), scope.f32()];
  const logit = v128.load(i32.add(p.logits, i));
  return block(
    bytes.set(i32.mul(p.columns, 4)),
    countUp(
      row,
      p.rows,
      1,
      sum.set(MINUS_INFINITY),
      countUp(i, bytes, 16, sum.set(f32x4.max(logit, sum))),
      best.set(joinLanes(f32.max, sum)),
      sum.set(0),
      countUp(
        i,
        bytes,
        16,
        value.set(f32x4.mul(f32x4.sub(logit, f32x4.splat(best)), Math.LOG2E)),
        powerOfTwo(value, scope),
        sum.set(f32x4.add(sum, value)),
      ),
      f32.store(p.to, best),
      f32.store(p.to, joinLanes(f32.add, sum), 4),
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
      countUp(
        row,
        p.rows,
        1,
        best.set(v128.loadSplat(p.measures)),
        factor.set(v128.loadSplat(p.factors)),
        countUp(
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
