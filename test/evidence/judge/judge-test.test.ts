import { describe, expect, it } from 'vitest';
import { createCalibration } from '../../../src/evidence/judge/calibration.ts';
import { describeJudgeTest, type JudgeTest, stepsTest } from '../../../src/evidence/judge/judge-test.ts';
import { PLANTED_TURNS } from '../../../src/evidence/judge/planted-turns.ts';
import { plantedScore } from '../../support/planted-steps.ts';
import { asking } from './scripted-ask.ts';

const never = new AbortController().signal;
const DAY = 86_400_000;
const HALF = PLANTED_TURNS.length / 2;

/** The test of a judge that gives these grades. */
async function testOf(grade: (right: number, nth: number) => unknown): Promise<JudgeTest> {
  const { ask } = asking((prompt, nth) => ({
    reason: 'because',
    score: grade(plantedScore(prompt) ?? 0, nth),
  }));
  const end = await stepsTest.run(ask, 'test/judge', never);
  if (!end.ok) throw new Error(end.why);
  expect(end.cost.calls).toBeGreaterThanOrEqual(PLANTED_TURNS.length);
  return end.test;
}

const dated = (test: JudgeTest, at = 0) => ({ seq: 1, at, fact: test });

describe('a judge’s test', () => {
  it('has as many failures as successes', () => {
    expect(PLANTED_TURNS.filter(({ isSuccess }) => isSuccess)).toHaveLength(HALF);
    expect(HALF).toBeGreaterThanOrEqual(5);
  });

  it('is passed by one that grades right, also with a few mistakes', async () => {
    expect(await testOf((right) => right)).toMatchObject({ right: 2 * HALF, isPassed: true });
    expect(await testOf((right, nth) => (nth < 4 ? -right : right))).toMatchObject({
      right: 2 * HALF - 3,
      isPassed: true,
    });
  });

  it.each([
    ['says yes to everything', () => 1, 'it called every failure a success'],
    ['says no to everything', () => -1, 'it called every success a failure'],
    ['decides nothing', () => 0, 'it decided none of them'],
    ['guesses', (_: number, nth: number) => (nth % 2 === 0 ? 1 : -1), 'failures called a success'],
    ['gives no usable grade', () => 'great', 'it decided none of them'],
  ])('is failed by one that %s, and the sentence says so', async (_, grade, said) => {
    const test = await testOf(grade);
    expect(test.isPassed).toBe(false);
    expect(describeJudgeTest(test)).toContain(said);
    const calibration = createCalibration();
    calibration.test(dated(test));
    expect(calibration.status()).toMatchObject({
      isTrusted: false,
      weight: 0,
      said: expect.stringContaining('switched off'),
    });
  });

  it('is no test when the model was not there for all of it', async () => {
    const { ask } = asking((_, nth) => (nth < 5 ? { reason: 'because', score: 1 } : undefined));
    expect(await stepsTest.run(ask, 'test/judge', never)).toMatchObject({
      ok: false,
      why: expect.stringContaining('too busy'),
    });
  });

  it('is repeated for another model, another set of steps, and after some time: sooner after a failed one', async () => {
    const passed = await testOf((right) => right);
    const failed = await testOf(() => 1);
    const due = (test: JudgeTest, now: number, model = 'test/judge'): boolean =>
      stepsTest.isDue({ test, at: 0 }, model, now);
    expect(stepsTest.isDue(undefined, 'test/judge', 0)).toBe(true);
    expect([due(passed, DAY), due(passed, 20 * DAY), due(passed, 31 * DAY)]).toEqual([false, false, true]);
    expect([due(failed, DAY), due(failed, 8 * DAY)]).toEqual([false, true]);
    expect(due(passed, DAY, 'test/other')).toBe(true);
    expect(due({ ...passed, set: 'older' }, DAY)).toBe(true);
  });
});
