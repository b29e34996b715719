import { block, type Code, f32x4, i32x4, type Local, type Scope } from './assembler.ts';

/** ln(2)^k / k!: the Taylor series of 2^f, highest power first. For |f| <= 1/2 its error is below float rounding. */
const SERIES = [6, 5, 4, 3, 2, 1, 0].map((k) => {
  let term = 1;
  for (let factor = 1; factor <= k; factor++) term *= Math.LN2 / factor;
  return term;
});

/** a·x^n + b·x^(n-1) + ..., by Horner's rule. */
export const polynomial = ([first = 0, ...rest]: readonly number[], x: Local): Code | number =>
  rest.reduce<Code | number>((sum, coefficient) => f32x4.add(f32x4.mul(sum, x), coefficient), first);

/** value = 2^value per lane, for values up to 127; subnormal results become 2^-126. */
export const powerOfTwo = (value: Local, scope: Scope): Code => {
  const whole = scope.v128();
  const exponent = i32x4.add(i32x4.fromFloat(whole), i32x4.splat(127));
  return block(
    value.set(f32x4.max(-126, value)),
    whole.set(f32x4.nearest(value)),
    value.set(f32x4.sub(value, whole)),
    value.set(f32x4.mul(polynomial(SERIES, value), i32x4.shiftLeft(exponent, 23))),
  );
};
