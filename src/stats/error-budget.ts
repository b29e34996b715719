/**
 * The error rate that everything which Instar promotes shares, for the whole life of a home: 5 %. One part is for lessons,
 * which are tested side by side, the other for the weights of policies, which are tested one after the other.
 */
export const ERROR_BUDGET = { lessons: 0.03, weights: 0.02 } as const;

/** The first block of tests; each later block is twice as long as the one before it. */
const FIRST_BLOCK = 64;

/**
 * The share of the error budget that belongs to the test in this place, counted from 1. The first 64 tests share half of the
 * budget evenly, the next 128 a quarter, and so on: the shares of any number of tests sum to less than 1, and none of the
 * first dozens of lessons pays for having come later.
 */
export function shareOfTest(place: number): number {
  const block = Math.floor(Math.log2((Math.max(1, place) - 1) / FIRST_BLOCK + 1));
  return 2 ** -(2 * block + 1) / FIRST_BLOCK;
}

/** A test that is running: the logarithm of its e-value now. */
export interface RunningTest {
  readonly place: number;
  readonly evidence: number;
  /** Its error counts for the whole family: it passes only at its own share of the budget. */
  readonly isFamilyWise?: boolean;
}

/**
 * The logarithm of the e-value that a test needs when `passed` tests have passed in the end, itself included. Never less than
 * what the whole budget asks of a single test, so that no useless candidate passes more often than `alpha`.
 */
export function evidenceNeeded(test: Omit<RunningTest, 'evidence'>, passed: number, alpha: number): number {
  const share = shareOfTest(test.place) * (test.isFamilyWise === true ? 1 : Math.max(1, passed));
  return -Math.log(alpha * Math.min(1, share));
}

/**
 * The running tests that pass now, when `passed` others have passed before: the largest set of which each has an e-value of
 * at least 1 / (alpha · share · size), where the size counts those before. This is e-BH (Wang and Ramdas) with the weights of
 * e-LOND (Xu and Ramdas), decided again after every measurement.
 *
 * Why it holds at any time, in any order and under any dependence: at the end N tests have passed, at least as many as when
 * test t did, so the false discovery proportion is at most the sum over useless t of alpha · share(t) · e(t), and the mean of
 * a useless test's e-value at any stopping time is at most 1. Where all candidates are useless, the false discovery rate is
 * the probability of any false pass. Tests that are `isFamilyWise` keep theirs below `alpha` among all candidates.
 */
export function testsThatPass<Test extends RunningTest>(
  running: readonly Test[],
  passed: number,
  alpha: number,
): readonly Test[] {
  for (let size = passed + running.length; size > passed; size--) {
    const enough = running.filter((test) => test.evidence >= evidenceNeeded(test, size, alpha));
    if (passed + enough.length >= size) return enough;
  }
  return [];
}

/**
 * The error level of the test in this place when one test ends before the next begins (e-LOND): its share of the budget, times
 * one more than the number of tests that passed before it. While most pass, it falls like 1 / place; while none do, like
 * 1 / place², and the probability of any false pass stays below `alpha`.
 */
export const levelInSequence = (place: number, passed: number, alpha: number): number =>
  (alpha * (Math.min(passed, place - 1) + 1)) / (place * (place + 1));
