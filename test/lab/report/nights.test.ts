import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { demoSummary } from '../../../lab/report/demo-summary.ts';
import { daysOfNewWeights, reportNights } from '../../../lab/report/nights.ts';
import { questionJson } from '../../../lab/report/question-json.ts';
import { questionMarkdown } from '../../../lab/report/question-markdown.ts';
import { makeQuestionReport } from '../../../lab/report/question-report.ts';
import type { NightRecord } from '../../../lab/suites/run-records.ts';
import { night, shuffled } from './journals.ts';
import { simulateJournal } from './simulated-journal.ts';

const WIDTH = 100;

const idle = (day: number, serving: number, seed = 1): NightRecord => ({
  ...{ condition: 'full', seed, day, steps: 0, pairs: 0, moves: [], serving, ms: 0 },
});

describe('nights of a report', () => {
  it('leave out nights without work, and say where other weights began to serve', () => {
    const refused = night({ day: 4, serving: 6, moves: ['version 12 rejected: worse'] });
    const found = reportNights([
      night({ day: 0 }),
      idle(1, 6),
      refused,
      night({ day: 6, serving: 18 }),
      idle(7, 18),
    ]);
    expect(found.map(({ day, isNew }) => [day, isNew])).toEqual([
      [0, true],
      [4, false],
      [6, true],
    ]);
  });

  it('have those whose attempts did not differ, and say that they trained nothing for it', () => {
    const sampled = { ...idle(1, 0), first: { reward: 0.75, completion: 0.75 } };
    expect(reportNights([idle(0, 0), sampled])).toEqual([{ ...sampled, isNew: false }]);
    const text = questionMarkdown(
      makeQuestionReport({ ...simulateJournal({ seeds: 1 }), nights: [sampled] }),
    );
    expect(text).toContain(
      '| full (deployable rewards) | 1 | 0 | 0 | the attempts at each task did not differ |',
    );
  });

  it('compare each seed with its own nights only, whatever the order of the journal', () => {
    const { nights } = simulateJournal({ seeds: 3 });
    const expected = reportNights(nights);
    expect(expected.filter(({ isNew }) => isNew).length).toBeGreaterThan(6);
    expect(expected.filter(({ isNew }) => !isNew).length).toBeGreaterThan(1);
    fc.assert(
      fc.property(fc.string(), (seed) => {
        expect(reportNights([...shuffled(nights, seed), ...nights.slice(0, 3)])).toEqual(expected);
      }),
      { numRuns: 30 },
    );
  });

  it('mark the first day of new weights, once for all seeds, and none after the last day', () => {
    const all = reportNights([
      night({ day: 2, serving: 6 }),
      night({ day: 2, seed: 2, serving: 8 }),
      night({ day: 5, serving: 12 }),
      night({ day: 9, serving: 18 }),
    ]);
    expect(daysOfNewWeights(all, 9)).toEqual([3, 6]);
  });
});

describe('a report with nights', () => {
  const journal = simulateJournal({ seeds: 1 });
  const report = makeQuestionReport(journal);
  const without = makeQuestionReport({ ...journal, nights: [] });

  it('says what the nights of an arm did, and why they did nothing', () => {
    const text = questionMarkdown(report);
    const trained = report.nights.filter(({ steps }) => steps > 0).length;
    const changes = report.nights.filter(({ isNew }) => isNew).length;
    expect(text).toContain(
      `| full (deployable rewards) | ${report.nights.length} | ${trained} | ${changes} |`,
    );
  });

  it('has the nights in the JSON, with their comparisons', () => {
    const { nights } = JSON.parse(JSON.stringify(questionJson(report)));
    expect(nights).toHaveLength(report.nights.length);
    expect(nights[0]).toMatchObject({ condition: 'full', steps: 6, pairs: 55, serving: 6, isNew: true });
  });

  it('marks no new weights where there were no nights', () => {
    expect(questionJson(without).nights).toEqual([]);
    expect(demoSummary(without, WIDTH)).not.toContain('new weights');
    expect(demoSummary(report, WIDTH)).toContain('w new weights serve');
  });
});

describe('the summary of a demo', () => {
  it('has figures with intervals, every difference with its verdict, and a panel for each condition', () => {
    const text = demoSummary(makeQuestionReport(simulateJournal()), WIDTH);
    for (const name of ['baseline', 'skills', 'full \\(deployable rewards\\)'])
      expect(text).toMatch(
        new RegExp(
          `^${name} +[\\d.]+\u00a0% \\([\\d.]+ to [\\d.]+\\) of 462 +[\\d.]+\u00a0% .* of 1,302$`,
          'm',
        ),
      );
    for (const pair of [
      'skills − baseline',
      'full \\(deployable rewards\\) − baseline',
      'full \\(deployable rewards\\) − skills',
    ])
      expect(text).toMatch(new RegExp(`^${pair} .*\\d/\\d`, 'm'));
    expect(text.match(/100 % ┤/g)).toHaveLength(3);
    expect(text).toContain('^ a rule begins to count');
  });
});
