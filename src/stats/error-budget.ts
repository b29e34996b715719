/** The probability that any of the weights that Instar promotes is no better than the weights before, for the whole life of a home. */
export const WEIGHTS_ERROR_BUDGET = 0.02;

/**
 * The error level of the test in this place when one test ends before the next begins (e-LOND): its share of the budget, times
 * one more than the number of tests that passed before it. While most pass, it falls like 1 / place; while none do, like
 * 1 / place², and the probability of any false pass stays below `alpha`.
 */
export const levelInSequence = (place: number, passed: number, alpha: number): number =>
  (alpha * (Math.min(passed, place - 1) + 1)) / (place * (place + 1));
