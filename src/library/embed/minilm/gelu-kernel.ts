import { advance, countUp, f32x4, kernel, v128 } from '../../../wasm/assembler.ts';
import { polynomial, powerOfTwo } from '../../../wasm/exponential.ts';

/** Abramowitz and Stegun 7.1.26: erf(z) = 1 - P(t)·e^(-z²) with t = 1 / (1 + 0.3275911·z), good to 1.5e-7. */
const ERF = [1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592, 0];
const ERF_T = 0.3275911;

/** x = x · Φ(x). Since x·erf(x) = |x|·erf(|x|), the formula for positive numbers works for all. */
export const geluKernel = kernel('gelu', ['x', 'count'], (p, scope) => {
  const i = scope.i32();
  const [x, size, t, tail] = [scope.v128(), scope.v128(), scope.v128(), scope.v128()];
  return countUp(
    i,
    p.count,
    4,
    x.set(v128.load(p.x)),
    size.set(f32x4.abs(x)),
    t.set(f32x4.div(1, f32x4.add(1, f32x4.mul(size, ERF_T * Math.SQRT1_2)))),
    tail.set(f32x4.mul(f32x4.mul(x, x), -0.5 * Math.LOG2E)),
    powerOfTwo(tail, scope),
    tail.set(f32x4.mul(polynomial(ERF, t), tail)),
    v128.store(p.x, f32x4.mul(0.5, f32x4.add(x, f32x4.mul(size, f32x4.sub(1, tail))))),
    advance(p.x, 16),
  );
});
