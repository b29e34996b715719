/** A closed interval. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** Two-sided 95 %. */
const Z = 1.959963984540054;

/**
 * Wilson's score interval for a proportion, for a number of trials that was fixed in advance; for repeated checks use
 * `meanInterval`.
 */
export function wilsonInterval(successes: number, trials: number, z = Z): Interval {
  if (trials <= 0) return { low: 0, high: 1 };
  const share = successes / trials;
  const weight = 1 / (1 + (z * z) / trials);
  const centre = weight * (share + (z * z) / (2 * trials));
  const reach = weight * z * Math.sqrt((share * (1 - share)) / trials + (z * z) / (4 * trials * trials));
  return { low: Math.max(0, centre - reach), high: Math.min(1, centre + reach) };
}
