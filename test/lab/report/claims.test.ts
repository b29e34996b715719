import { describe, expect, it } from 'vitest';
import { compareConditions, questionMeasure } from '../../../lab/report/compare-conditions.ts';
import { makeQuestionReport } from '../../../lab/report/question-report.ts';
import { isAbout, orderRows } from '../../../lab/report/question-rows.ts';
import type { QuestionRecord } from '../../../lab/suites/run-records.ts';
import { countOf } from '../../support/counts.ts';
import { simulateJournal } from './simulated-journal.ts';

const split = (
  given: readonly QuestionRecord[],
): { readonly base: readonly QuestionRecord[]; readonly own: readonly QuestionRecord[] } => {
  const { rows } = orderRows(given);
  return {
    base: rows.filter(({ condition }) => condition === 'baseline'),
    own: rows.filter(({ condition }) => condition === 'skills'),
  };
};

const RUNS = countOf(100, 200);
/** Runs in which learning changes nothing. */
const withoutEffect = Array.from({ length: RUNS }, (_, run) =>
  split(
    simulateJournal({
      name: `null/${run}`,
      conditions: ['baseline', 'skills'],
      seeds: 2,
      days: 7,
      choices: 6,
      files: 4,
      untaught: 0.5,
      taught: 0.5,
    }).rows,
  ),
);

describe('claims over many runs', () => {
  it.each(['accuracy', 'completion'] as const)(
    'a true difference of 0 in %s leads to a claim in at most about 5 % of the runs',
    (measure) => {
      let claimed = 0;
      let pairs = 0;
      for (const { base, own } of withoutEffect) {
        pairs += own.filter((row) => isAbout(measure, row)).length;
        if (
          compareConditions(questionMeasure(measure), own, base, ['skills', 'baseline']).verdict !==
          'cannot say'
        )
          claimed++;
      }
      expect(pairs).toBe(RUNS * 14 * (measure === 'accuracy' ? 10 : 4));
      // 5 % and two standard errors of a share of 5 % in so many runs.
      expect(claimed / RUNS).toBeLessThanOrEqual(0.05 + 2 * Math.sqrt((0.05 * 0.95) / RUNS));
    },
  );

  it('helpful learning is called better in nearly every run, harmful learning worse', () => {
    const verdicts = (untaught: number, taught: number): readonly string[] =>
      Array.from({ length: 12 }, (_, run) => {
        const { rows } = simulateJournal({
          name: `effect/${run}`,
          conditions: ['baseline', 'skills'],
          seeds: 2,
          choices: 8,
          files: 6,
          untaught,
          taught,
        });
        const { base, own } = split(rows);
        return compareConditions(questionMeasure('completion'), own, base, ['skills', 'baseline']).verdict;
      });
    expect(verdicts(0.35, 0.92).filter((verdict) => verdict === 'better').length).toBeGreaterThanOrEqual(11);
    expect(verdicts(0.92, 0.35).filter((verdict) => verdict === 'worse').length).toBeGreaterThanOrEqual(11);
  });
});

describe('the report of a simulated run of 3 x 588 x 3', () => {
  const report = makeQuestionReport(simulateJournal());

  it('calls skills better than the baseline in all three measures, and makes no claim where the interval covers 0', () => {
    const told = report.differences.map(({ of, against, measure, verdict }) => [
      of,
      against,
      measure,
      verdict,
    ]);
    expect(told.filter(([of, against]) => of === 'skills' && against === 'baseline')).toEqual([
      ['skills', 'baseline', 'accuracy', 'better'],
      ['skills', 'baseline', 'completion', 'better'],
      ['skills', 'baseline', 'exact', 'better'],
    ]);
    expect(told).toHaveLength(9);
    for (const { interval, verdict } of report.differences) {
      if (interval === undefined) throw new Error('no interval');
      if (interval.low <= 0 && interval.high >= 0) expect(verdict).toBe('cannot say');
    }
  });

  it('has a baseline that falls with each new rule and skills that recover', () => {
    const [baseline, skills] = report.conditions;
    expect(baseline?.days.at(-1)?.completion.value).toBeLessThan(0.2);
    expect(skills?.days.at(-1)?.completion.value).toBeGreaterThan(0.5);
    expect(baseline?.days).toHaveLength(14);
  });
});
