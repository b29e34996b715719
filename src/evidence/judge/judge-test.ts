import { createHash } from 'node:crypto';
import type { Fact, StoredFact } from '../../core/fact.ts';
import { type Answer, type Ask, addCost, type Cost, NO_COST } from '../../core/learn.ts';
import { plural } from '../../text/phrases.ts';
import { judgePlanted, plantedPrompts } from './judge-question.ts';
import { PLANTED_TURNS } from './planted-turns.ts';

/** How a judge did on steps whose outcome is known. */
export type JudgeTest = Fact & { readonly type: 'judge-tested' };

export type JudgeTestEnd =
  | { readonly ok: true; readonly test: JudgeTest; readonly cost: Cost }
  /** The model was unavailable or the budget is spent. The steps that were graded are graded again. */
  | { readonly ok: false; readonly why: string; readonly cost: Cost };

export interface DatedTest {
  readonly test: JudgeTest;
  readonly at: number;
}

interface PlantedAnswers<Planted> {
  readonly about?: 'identity';
  readonly planted: readonly Planted[];
  readonly isGood: (planted: Planted) => boolean;
  /** What is asked. A test with other prompts says nothing of this one. */
  readonly prompts: unknown;
  readonly judge: (
    ask: Ask,
    planted: Planted,
    signal: AbortSignal,
  ) => Promise<Answer<{ readonly score: number }>>;
}

/** The test of a judge on answers whose outcome is known. */
export interface PlantedTest {
  /** Whether a model's test is missing, of other answers, or too old. */
  isDue(last: DatedTest | undefined, model: string, now: number): boolean;
  /** The last test of any model. */
  fold(last: DatedTest | undefined, stored: StoredFact): DatedTest | undefined;
  /** One after the other, one vote each: a server on a small machine answers one question at a time. Never rejects. */
  run(ask: Ask, model: string, signal: AbortSignal): Promise<JudgeTestEnd>;
}

const DAY_MS = 86_400_000;
/** The model behind a name may change. One that failed may be replaced sooner. */
const PASSED_MS = 30 * DAY_MS;
const FAILED_MS = 7 * DAY_MS;

export function createPlantedTest<Planted>(answers: PlantedAnswers<Planted>): PlantedTest {
  const { about, planted, isGood, prompts, judge } = answers;
  const set = createHash('sha256').update(JSON.stringify(prompts)).digest('hex').slice(0, 16);
  return {
    isDue: (last, model, now) => {
      if (last === undefined) return true;
      const { test, at } = last;
      const isSame = test.model === model && test.set === set;
      return !isSame || now - at > (test.isPassed ? PASSED_MS : FAILED_MS);
    },
    fold: (last, { at, fact }) =>
      fact.type === 'judge-tested' && fact.about === about && at >= (last?.at ?? 0)
        ? { test: fact, at }
        : last,
    run: async (ask, model, signal) => {
      let cost = NO_COST;
      const count = { right: 0, praised: 0, blamed: 0, unclear: 0 };
      for (const one of planted) {
        const answer = await judge(ask, one, signal);
        cost = addCost(cost, answer.cost);
        if (signal.aborted) return { ok: false, why: 'aborted', cost };
        if (!answer.ok && answer.isRetryable) return { ok: false, why: answer.why, cost };
        const score = answer.ok ? answer.value.score : 0;
        if (score === 0) count.unclear++;
        else if (score > 0 === isGood(one)) count.right++;
        else if (isGood(one)) count.blamed++;
        else count.praised++;
      }
      const isPassed = passesPlanted(count);
      const of = about === undefined ? {} : { about };
      return { ok: true, cost, test: { type: 'judge-tested', model, set, ...of, ...count, isPassed } };
    },
  };
}

export const stepsTest = createPlantedTest({
  planted: PLANTED_TURNS,
  isGood: ({ isSuccess }) => isSuccess,
  prompts: plantedPrompts(PLANTED_TURNS.map(({ evidence }) => evidence)),
  judge: (ask, { evidence }, signal) => judgePlanted(ask, evidence, signal),
});

const LEAST_DECIDED = 8;
const LEVEL = 0.05;

/** Better than chance on the steps that it decided, by the exact binomial test, and decided enough of them. */
function passesPlanted({ right, praised, blamed }: Pick<JudgeTest, 'right' | 'praised' | 'blamed'>): boolean {
  const decided = right + praised + blamed;
  return decided >= LEAST_DECIDED && upperTail(right, decided) <= LEVEL;
}

/** The probability of at least `right` successes in `trials` fair coin flips. */
function upperTail(right: number, trials: number): number {
  let term = 0.5 ** trials;
  let sum = 0;
  for (let k = 0; k <= trials; k++) {
    if (k >= right) sum += term;
    term *= (trials - k) / (k + 1);
  }
  return sum;
}

/** `it was right on 15 of 16 planted steps`, with what is wrong with a judge that is off. */
export function describeJudgeTest({ right, praised, blamed, unclear, isPassed }: JudgeTest): string {
  const all = right + praised + blamed + unclear;
  const share = `it was right on ${right} of ${all} planted steps`;
  if (isPassed) return share;
  const failures = PLANTED_TURNS.filter(({ isSuccess }) => !isSuccess).length;
  const why =
    praised + blamed + right === 0
      ? 'it decided none of them'
      : praised === failures && blamed === 0
        ? 'it called every failure a success'
        : blamed === all - failures && praised === 0
          ? 'it called every success a failure'
          : `${plural(praised, 'failure')} called a success, ${plural(blamed, 'success', 'successes')} called a failure, ${unclear} left open`;
  return `${share} (${why}): it is switched off, its rewards do not count`;
}
