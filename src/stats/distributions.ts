import { bisect } from './line-search.ts';

/** Beyond it the result is 0 or 1 in double precision, for this use. */
const FAR = 8;

/** The standard normal distribution function, to 15 digits: its series, until a term no longer changes the sum. */
export function normalCdf(x: number): number {
  if (x <= -FAR) return 0;
  if (x >= FAR) return 1;
  let term = x;
  let sum = 0;
  for (let odd = 3; sum + term !== sum; odd += 2) {
    sum += term;
    term *= (x * x) / odd;
  }
  return Math.max(0, Math.min(1, 0.5 + (sum * Math.exp((-x * x) / 2)) / Math.sqrt(2 * Math.PI)));
}

/** With more degrees the distribution is normal to three digits, and the sum below would only take longer. */
const MOST_DEGREES = 2000;
const STEPS = 60;
const FARTHEST = 1e4;

/**
 * The quantile `p` of Student's t, for `p` in 0.5 … 0.9999 and a whole number of degrees of freedom. For whole degrees the
 * distribution is a finite sum of powers of a cosine (Abramowitz and Stegun, 26.7.3 and 26.7.4).
 */
export function tQuantile(p: number, degrees: number): number {
  const freedom = Math.min(MOST_DEGREES, Math.max(1, Math.floor(degrees)));
  const within = 2 * p - 1;
  if (within <= 0) return 0;
  return bisect((t) => shareWithin(t, freedom) > within, FARTHEST, 0, STEPS);
}

/** The probability between −`t` and `t`. */
function shareWithin(t: number, degrees: number): number {
  const angle = Math.atan(t / Math.sqrt(degrees));
  const cos = Math.cos(angle);
  const isOdd = degrees % 2 === 1;
  let term = isOdd ? cos : 1;
  let sum = degrees === 1 ? 0 : term;
  for (let power = isOdd ? 3 : 2; power <= degrees - 2; power += 2) {
    term *= (cos * cos * (power - 1)) / power;
    sum += term;
  }
  return isOdd ? (2 / Math.PI) * (angle + Math.sin(angle) * sum) : Math.sin(angle) * sum;
}
