/** The true difference that the figures are for, in points of 100. */
export const FOUND_POINTS = 50;

/**
 * The share of sessions held out, and the number of scored sessions after which a difference of 50 points is found: the
 * median of 1,001 simulated measurements by the e-process of `measureEffect` at alpha 0.05, looking after every session,
 * with scores of 0 and 1 around one half (`test/lessons/effect/sessions-needed.test.ts` simulates them again).
 */
const MEASURED: readonly (readonly [holdout: number, sessions: number])[] = [
  [0.01, 810],
  [0.02, 416],
  [0.05, 165],
  [0.1, 90],
  [0.2, 51],
  [0.3, 42],
  [0.5, 41],
];

/**
 * About how many scored sessions show that a lesson makes a difference of 50 points of 100, when a share `holdout` of the
 * sessions is held out. Between the measured shares by interpolation of the logarithms. Undefined when nothing is held out.
 */
export function sessionsNeeded(holdout: number): number | undefined {
  if (!(holdout > 0)) return undefined;
  const [first, last] = [MEASURED[0], MEASURED.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  // With very few held out, their number alone decides.
  if (holdout <= first[0]) return rounded((first[1] * first[0]) / holdout);
  if (holdout >= last[0]) return rounded(last[1]);
  const next = MEASURED.findIndex(([share]) => share >= holdout);
  const [low, high] = [MEASURED[next - 1] ?? first, MEASURED[next] ?? last];
  const way = Math.log(holdout / low[0]) / Math.log(high[0] / low[0]);
  return rounded(low[1] * (high[1] / low[1]) ** way);
}

/** Two digits: it is an estimate. */
function rounded(sessions: number): number {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(sessions)) - 1);
  return Math.round(sessions / unit) * unit;
}
