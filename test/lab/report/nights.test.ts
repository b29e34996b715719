import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { demoSummary } from '../../../lab/report/questions/demo-summary.ts';
import { reportNights, weightsMarks } from '../../../lab/report/questions/nights.ts';
import { questionJson } from '../../../lab/report/questions/question-json.ts';
import { makeQuestionReport } from '../../../lab/report/questions/question-report.ts';
import type { NightRecord } from '../../../lab/suite/run-records.ts';
import { night, shuffled } from './journals.ts';
import { PLAIN, questionPage, questionTable } from './render.ts';
import { simulateJournal } from './simulated-journal.ts';

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
    expect(weightsMarks(all, 9)).toEqual([
      { day: 3, label: 'weights v6 to v8', title: 'seed 1: version 6, seed 2: version 8' },
      { day: 6, label: 'weights v12', title: 'seed 1: version 12' },
    ]);
  });
});

describe('a report with nights', () => {
  const journal = simulateJournal({ seeds: 1 });
  const report = makeQuestionReport(journal);
  const without = makeQuestionReport({ ...journal, nights: [] });

  it('has a line for each night in the table, with its outcome', () => {
    const table = questionTable(report);
    const lines = table.slice(table.indexOf('Nights')).split('\n');
    expect(lines.filter((line) => /^ +1 {2}day \d+ +6 /.test(line))).toHaveLength(report.nights.length);
    expect(table).toMatch(
      /55\.0\u00a0% → 75\.0\u00a0% {2,}55 +78\.0\u00a0% +65\.0\u00a0% +18\.0 s {2}v6 serves/,
    );
    expect(table).toMatch(/300 +66\.0\u00a0%.* v6 stays/);
    expect(table).toContain('rejected: 300 tasks do not show it');
    expect(Math.max(...lines.map((line) => [...line].length))).toBeLessThanOrEqual(100);
  });

  it('has the nights on the page, and a line on both plots for each change of weights', () => {
    const page = questionPage(report);
    const changes = report.nights.filter(({ isNew }) => isNew).length;
    expect(changes).toBeGreaterThan(2);
    expect(page.match(/<line class="weights"/g)).toHaveLength(2 * changes);
    expect(page).toContain('>weights v6</text>');
    expect(page).toContain('<h2>Nights</h2>');
  });

  it('has the nights in the JSON, with their comparisons', () => {
    const { nights } = JSON.parse(JSON.stringify(questionJson(report)));
    expect(nights).toHaveLength(report.nights.length);
    expect(nights[0]).toMatchObject({ condition: 'full', steps: 6, pairs: 55, serving: 6, isNew: true });
  });

  it('does not mention nights where there were none', () => {
    expect(questionTable(without)).not.toContain('Nights');
    expect(questionPage(without)).not.toContain('<h2>Nights</h2>');
    expect(questionPage(without)).not.toContain('class="weights"');
    expect(questionJson(without).nights).toEqual([]);
    expect(demoSummary(without, PLAIN)).not.toContain('new weights');
  });
});

describe('the summary of a demo', () => {
  it('has figures with intervals, every difference with its verdict, and a panel for each condition', () => {
    const text = demoSummary(makeQuestionReport(simulateJournal()), PLAIN);
    for (const name of ['baseline', 'skills', 'full \\(deployable rewards\\)'])
      expect(text).toMatch(
        new RegExp(
          `^ {2}${name} +[\\d.]+\u00a0% \\([\\d.]+ to [\\d.]+\\) of 462 +[\\d.]+\u00a0% .* of 1,302$`,
          'm',
        ),
      );
    for (const pair of [
      'skills − baseline',
      'full \\(deployable rewards\\) − baseline',
      'full \\(deployable rewards\\) − skills',
    ])
      expect(text.match(new RegExp(`${pair} .*(better|worse|cannot say)$`, 'gm'))).toHaveLength(2);
    expect(text.match(/100 % ┤/g)).toHaveLength(3);
    expect(text).toContain('^ a rule begins to count');
    expect(text).not.toContain('\u001b');
    expect(demoSummary(makeQuestionReport(simulateJournal()), { ...PLAIN, colour: true })).toContain(
      '\u001b[32mbetter',
    );
  });
});
