import { describe, expect, it } from 'vitest';
import { explainQuestionDifference } from '../../../lab/report/compare-conditions.ts';
import { questionJson } from '../../../lab/report/question-json.ts';
import { questionMarkdown } from '../../../lab/report/question-markdown.ts';
import { makeQuestionReport, type QuestionReport } from '../../../lab/report/question-report.ts';
import type { Condition } from '../../../lab/suites/arms.ts';
import type { QuestionRecord } from '../../../lab/suites/run-records.ts';
import { graded, journal, row, shuffled } from './journals.ts';
import { simulateJournal } from './simulated-journal.ts';

const conditionOf = (report: QuestionReport, name: Condition) => {
  const found = report.conditions.find(({ condition }) => condition === name);
  if (found === undefined) throw new Error(`no ${name}`);
  return found;
};
const differenceOf = (report: QuestionReport, measure: string) => {
  const found = report.differences.find((difference) => difference.measure === measure);
  if (found === undefined) throw new Error(`no ${measure}`);
  return found;
};

describe('a condition', () => {
  const rows: readonly QuestionRecord[] = [
    graded(1, { question: 'q1' }),
    graded(0.5, { question: 'q2' }),
    graded(1, { question: 'f1', kind: 'files' }),
    graded(0, { question: 'f2', kind: 'files' }),
    row({ question: 'f3', kind: 'files', why: 'python is not here' }),
    graded(0.25, { question: 'q1', day: 1 }),
    graded(0, { question: 'f1', kind: 'files', day: 1 }),
    graded(1, { question: 'f1', kind: 'files', day: 3 }),
  ];
  const baseline = conditionOf(makeQuestionReport(journal(rows)), 'baseline');

  it('has accuracy over all, completion over file tasks, exact match over choices: by hand', () => {
    expect(baseline.accuracy).toEqual({ value: 3.75 / 7, n: 7, ungraded: 1 });
    expect(baseline.completion).toEqual({ value: 0.5, n: 4, ungraded: 1 });
    expect(baseline.exact).toEqual({ value: 1 / 3, n: 3, ungraded: 0 });
  });

  it('counts ungraded questions separately (not as wrong), with the reason and the bounds of the accuracy', () => {
    expect(baseline.ungraded).toEqual([{ why: 'python is not here', questions: 1 }]);
    expect([baseline.asked, baseline.graded]).toEqual([8, 7]);
    expect(baseline.accuracyBounds).toEqual({ low: 3.75 / 8, high: 4.75 / 8 });
  });

  it('has a figure for each day that has questions', () => {
    expect(baseline.days.map(({ day, accuracy }) => [day, accuracy.value])).toEqual([
      [0, 2.5 / 4],
      [1, 0.125],
      [3, 1],
    ]);
  });

  it('has no interval from fewer than six days of runs', () => {
    expect(baseline.accuracy.interval).toBeUndefined();
    const six = Array.from({ length: 6 }, (_, day) => graded(day % 2, { day }));
    expect(conditionOf(makeQuestionReport(journal(six)), 'baseline').accuracy.interval).toBeDefined();
  });

  it('adds up the cost, ungraded questions included', () => {
    const [cost] = makeQuestionReport(journal(rows)).costs;
    expect(cost).toMatchObject({ questions: 8, inputTokens: 800, outputTokens: 80, steps: 8, ms: 160 });
    expect(cost?.usd).toBeCloseTo(0.008, 12);
    expect(cost?.overheadMs).toEqual({ total: 16, median: 2, p95: 2 });
  });
});

describe('a difference', () => {
  const pair = (
    day: number,
    question: string,
    base: number | undefined,
    own: number | undefined,
  ): QuestionRecord[] =>
    (
      [
        ['baseline', base],
        ['skills', own],
      ] as const
    ).map(([condition, score]) =>
      score === undefined ? row({ condition, day, question }) : graded(score, { condition, day, question }),
    );

  it('pairs only questions that both conditions have, and counts the others', () => {
    const report = makeQuestionReport(
      journal([
        ...pair(0, 'q1', 0, 1),
        ...pair(0, 'q2', 1, 0.5),
        ...pair(1, 'q1', 0, undefined),
        graded(1, { day: 2, question: 'q1' }),
        graded(1, { day: 2, question: 'q2' }),
        graded(0, { condition: 'skills', day: 3, question: 'q9' }),
      ]),
    );
    const accuracy = differenceOf(report, 'accuracy');
    expect(accuracy).toMatchObject({ pairs: 2, blocks: 1, gained: 1, lost: 1, tied: 0, mean: 0.25 });
    expect(accuracy.leftOut).toEqual({ onlyOf: 1, onlyAgainst: 2, ungraded: 1 });
    // The ungraded side counts against the better condition: 0 − 0.
    expect(accuracy.worstCase).toBeCloseTo(0.5 / 3, 12);
    const { caveats } = explainQuestionDifference(accuracy);
    expect(caveats.join('\n')).toContain('3 questions left out: asked under one of the two conditions only');
    expect(caveats.join('\n')).toContain('1 pair left out');
  });

  it('is "cannot say" with a reason for too few days, however large the difference is', () => {
    const rows = Array.from({ length: 5 }, (_, day) => pair(day, 'q1', 0, 1)).flat();
    const accuracy = differenceOf(makeQuestionReport(journal(rows)), 'accuracy');
    expect(accuracy).toMatchObject({ verdict: 'cannot say', mean: 1 });
    expect(explainQuestionDifference(accuracy).because).toEqual([
      '5 days of runs are too few to tell a difference from chance; at least 6 are needed',
    ]);
  });

  it('has a caveat for a single seed', () => {
    const rows = Array.from({ length: 30 }, (_, day) => pair(day, 'q1', 0, day % 3 === 0 ? 0 : 1)).flat();
    const accuracy = differenceOf(makeQuestionReport(journal(rows)), 'accuracy');
    expect(accuracy.verdict).toBe('better');
    expect(explainQuestionDifference(accuracy).claim).toMatch(
      /^skills is better than baseline in accuracy: \+66\.7/,
    );
    expect(explainQuestionDifference(accuracy).caveats).toEqual([
      'one seed only: fewer than 3 say little about the next run',
    ]);
  });

  it('makes no claim from four days, though resampling alone would', () => {
    const rows = Array.from({ length: 40 }, (_, day) => pair(day, 'q1', 0, day < 4 ? 1 : 0)).flat();
    const accuracy = differenceOf(makeQuestionReport(journal(rows)), 'accuracy');
    expect(accuracy.interval?.low).toBeGreaterThan(0);
    expect(accuracy).toMatchObject({ verdict: 'cannot say', p: 0.125 });
    expect(explainQuestionDifference(accuracy).because[0]).toContain(
      'chance alone gives this once in 8 times',
    );
  });

  it('says worse as well as better, and names the needed sample where it can say neither', () => {
    const worse = Array.from({ length: 30 }, (_, day) => pair(day, 'q1', 1, day % 3 === 0 ? 1 : 0)).flat();
    expect(differenceOf(makeQuestionReport(journal(worse)), 'accuracy').verdict).toBe('worse');
    const unsure = Array.from({ length: 30 }, (_, day) =>
      pair(day, 'q1', day % 2, day % 5 === 0 ? 1 : day % 2),
    ).flat();
    const accuracy = differenceOf(makeQuestionReport(journal(unsure)), 'accuracy');
    expect(accuracy.verdict).toBe('cannot say');
    expect(accuracy.needed?.pairs).toBeGreaterThan(accuracy.pairs);
    expect(explainQuestionDifference(accuracy).because.join('\n')).toMatch(
      /takes about \d+ seeds? instead of 1/,
    );
  });

  it('names seeds with the opposite sign', () => {
    const rows = [1, 2, 3].flatMap((seed) =>
      Array.from({ length: 20 }, (_, day) =>
        pair(day, 'q1', seed === 3 && day === 0 ? 1 : 0, seed !== 3 && day % 2 === 0 ? 1 : 0).map((each) => ({
          ...each,
          seed,
        })),
      ).flat(),
    );
    const accuracy = differenceOf(makeQuestionReport(journal(rows, { seeds: [1, 2, 3] })), 'accuracy');
    expect(explainQuestionDifference(accuracy).caveats).toEqual([
      '1 seed of 3 went the other way (seed 3: −5.0)',
    ]);
  });
});

describe('a report', () => {
  const everything = (report: QuestionReport): string =>
    [JSON.stringify(questionJson(report)), questionMarkdown(report)].join('\n');

  it('does not depend on the order of the journal: the same bytes, both ways', () => {
    const simulated = simulateJournal({ seeds: 2, days: 6, choices: 5, files: 3, ungraded: 0.05 });
    const first = everything(makeQuestionReport(simulated));
    for (const seed of ['a', 'b', 'c']) {
      const rows = shuffled(simulated.rows, seed);
      expect(rows).not.toEqual(simulated.rows);
      const lessons = shuffled(simulated.lessons, seed);
      expect(everything(makeQuestionReport({ ...simulated, rows, lessons }))).toBe(first);
    }
  });

  it('counts a question once that an interrupted run wrote twice, prefers the graded row, and says so', () => {
    const twice = [row({ why: 'stopped' }), graded(1), graded(1), graded(0, { question: 'q2' })];
    const report = makeQuestionReport(journal(twice));
    expect(conditionOf(report, 'baseline').accuracy).toEqual({ value: 0.5, n: 2, ungraded: 0 });
    expect(report.remarks.join('\n')).toContain('2 lines of the journal repeat a question');
  });

  it.each<[string, readonly QuestionRecord[], string]>([
    ['no row', [], 'No question has been asked yet.'],
    ['one condition', [graded(1), graded(0, { question: 'q2' })], 'skills: no question was asked'],
    ['nothing graded', [row({}), row({ condition: 'skills' })], 'skills: no question could be graded.'],
  ])('is readable with %s', (_, rows, remark) => {
    const report = makeQuestionReport(journal(rows));
    expect(report.remarks.some((each) => each.startsWith(remark))).toBe(true);
    const text = everything(report);
    expect(text).not.toMatch(/NaN|undefined|Infinity|\[object/);
    for (const { verdict } of report.differences) expect(verdict).toBe('cannot say');
  });

  it('says that the run is incomplete, and includes the notes of its head', () => {
    const report = makeQuestionReport(
      journal([graded(1)], {
        questions: 588,
        seeds: [1, 2, 3],
        notes: ['full could not be run: no trainer'],
      }),
    );
    expect(report.remarks[0]).toBe('full could not be run: no trainer');
    expect(report.remarks[1]).toContain('baseline: 1 of 1,764 questions were asked, in 1 seed of 3');
  });
});
