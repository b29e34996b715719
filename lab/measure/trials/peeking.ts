import { createSfc32 } from '../../../src/base/random.ts';
import { ERROR_BUDGET, levelInSequence, testsThatPass } from '../../../src/stats/error-budget.ts';
import { addToMoments, EMPTY_MOMENTS } from '../../../src/stats/moments.ts';
import { pairedEvidence } from '../../../src/stats/paired-test.ts';

/** A useless lesson's differences: none of the mean, with as much noise as two independent attempts have. */
const uselessDifference = (next: () => number, chance: number): number =>
  (next() < chance ? 1 : 0) - (next() < chance ? 1 : 0);

/** How often useless candidates pass, when each is looked at after every single pair and nothing stops its test early. */
export function peekAtUseless(candidates: number, pairs: number, alpha: number): number {
  const enough = Math.log(1 / alpha);
  let passed = 0;
  for (let at = 0; at < candidates; at++) {
    const next = createSfc32(at, pairs, 17);
    const chance = 0.3 + 0.3 * next();
    let sums = EMPTY_MOMENTS;
    for (let pair = 0; pair < pairs; pair++) {
      sums = addToMoments(sums, uselessDifference(next, chance));
      if (sums.sum > 0 && pairedEvidence(sums).better >= enough) {
        passed++;
        break;
      }
    }
  }
  return passed;
}

export interface NullLibraries {
  readonly libraries: number;
  /** Libraries with at least one promotion, all of them false. */
  readonly withFalse: number;
  readonly promoted: number;
}

/**
 * Libraries in which every lesson is useless, tested side by side: after every pair of any of them all are weighed together. No
 * test is given up early, so that each has every opportunity to pass by luck.
 */
export function peekAtLibraries(libraries: number, size: number, pairs: number): NullLibraries {
  let withFalse = 0;
  let promoted = 0;
  for (let library = 0; library < libraries; library++) {
    const lessons = Array.from({ length: size }, (_, at) => {
      const next = createSfc32(library, at, 29);
      return { next, chance: 0.3 + 0.3 * next(), place: at + 1, sums: EMPTY_MOMENTS, evidence: 0 };
    });
    let passed = 0;
    let running = lessons;
    for (let pair = 0; pair < pairs; pair++)
      for (const lesson of running) {
        lesson.sums = addToMoments(lesson.sums, uselessDifference(lesson.next, lesson.chance));
        lesson.evidence = lesson.sums.sum > 0 ? pairedEvidence(lesson.sums).better : 0;
        if (lesson.evidence < LEAST) continue;
        const enough = testsThatPass(running, passed, ERROR_BUDGET.lessons);
        passed += enough.length;
        running = running.filter((one) => !enough.includes(one));
      }
    promoted += passed;
    if (passed > 0) withFalse++;
  }
  return { libraries, withFalse, promoted };
}

/** No test passes with less evidence than this. */
const LEAST = Math.log(1 / ERROR_BUDGET.lessons);

/** Checkpoints that are no better, one after the other: how many homes promote any of `nights` of them. */
export function peekAtCheckpoints(homes: number, nights: number, pairs: number): number {
  let withFalse = 0;
  for (let home = 0; home < homes; home++) {
    const next = createSfc32(home, nights, 41);
    let passed = 0;
    for (let night = 1; night <= nights; night++) {
      const enough = Math.log(1 / levelInSequence(night, passed, ERROR_BUDGET.weights));
      let sums = EMPTY_MOMENTS;
      for (let pair = 0; pair < pairs; pair++) {
        const [candidate, live] = [next() < 0.5 ? 1 : 0, next() < 0.5 ? 1 : 0];
        sums = addToMoments(sums, candidate - live);
        if (sums.sum > 0 && pairedEvidence(sums).better >= enough) {
          passed++;
          break;
        }
      }
    }
    if (passed > 0) withFalse++;
  }
  return withFalse;
}
