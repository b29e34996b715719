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
