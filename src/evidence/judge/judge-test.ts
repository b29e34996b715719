import { createHash } from 'node:crypto';
import type { Fact, StoredFact } from '../../core/fact.ts';
import { type Ask, addCost, type Cost, NO_COST } from '../../core/learn.ts';
import { plural } from '../../text/phrases.ts';
import { judgePlanted, plantedPrompts } from './judge-question.ts';
import { PLANTED_TURNS } from './planted-turns.ts';

/** How a judge did on steps whose outcome is known. */
export type JudgeTest = Fact & { readonly type: 'judge-tested' };

export type JudgeTestEnd =
  | { readonly ok: true; readonly test: JudgeTest; readonly cost: Cost }
  /** The model was unavailable or the budget is spent. The steps that were graded are graded again. */
  | { readonly ok: false; readonly why: string; readonly cost: Cost };

/** The same for the same steps and the same question: a test with others says nothing of this one. */
const TEST_SET: string = createHash('sha256')
  .update(JSON.stringify(plantedPrompts(PLANTED_TURNS.map(({ evidence }) => evidence))))
  .digest('hex')
  .slice(0, 16);

const DAY_MS = 86_400_000;
/** The model behind a name may change. One that failed may be replaced sooner. */
export const PASSED_MS = 30 * DAY_MS;
export const FAILED_MS = 7 * DAY_MS;

/** Whether a model's test is missing, of another set of steps, or too old. */
export function isTestDue(known: DatedTest | undefined, model: string, now: number): boolean {
  if (known === undefined) return true;
  const { test, at } = known;
  const isSame = test.model === model && test.set === TEST_SET;
  return !isSame || now - at > (test.isPassed ? PASSED_MS : FAILED_MS);
}

export interface DatedTest {
  readonly test: JudgeTest;
  readonly at: number;
}

/** The last test of any model. */
export const foldJudgeTest = (
  known: DatedTest | undefined,
  { at, fact }: StoredFact,
): DatedTest | undefined =>
  fact.type === 'judge-tested' && fact.about === undefined && at >= (known?.at ?? 0)
    ? { test: fact, at }
    : known;

/** One step after the other, one vote each: a server on a small machine answers one question at a time. Never rejects. */
export async function testJudge(ask: Ask, model: string, signal: AbortSignal): Promise<JudgeTestEnd> {
  let cost = NO_COST;
  const count = { right: 0, praised: 0, blamed: 0, unclear: 0 };
  for (const { evidence, isSuccess } of PLANTED_TURNS) {
    const answer = await judgePlanted(ask, evidence, signal);
    cost = addCost(cost, answer.cost);
    if (signal.aborted) return { ok: false, why: 'aborted', cost };
    if (!answer.ok && answer.isRetryable) return { ok: false, why: answer.why, cost };
    const score = answer.ok ? answer.value.score : 0;
    if (score === 0) count.unclear++;
    else if (score > 0 === isSuccess) count.right++;
    else if (isSuccess) count.blamed++;
    else count.praised++;
  }
  const isPassed = passesPlanted(count);
  return { ok: true, cost, test: { type: 'judge-tested', model, set: TEST_SET, ...count, isPassed } };
}

const LEAST_DECIDED = 8;
const LEVEL = 0.05;

/** Better than chance on the steps that it decided, by the exact binomial test, and decided enough of them. */
export function passesPlanted({
  right,
  praised,
  blamed,
}: Pick<JudgeTest, 'right' | 'praised' | 'blamed'>): boolean {
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
