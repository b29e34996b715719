import { describe, expect, it } from 'vitest';
import { makeQuestionReport } from '../../../lab/report/question-report.ts';
import type { QuestionRecord } from '../../../lab/suites/run-records.ts';
import { graded, journal, row } from './journals.ts';
import { RULES, simulateJournal } from './simulated-journal.ts';

describe('a rule', () => {
  const asked = (day: number, question: string, over: Partial<QuestionRecord>): QuestionRecord =>
    graded(over.broken?.length ? 0 : 1, {
      condition: 'skills',
      day,
      question,
      kind: 'files',
      rules: ['P1'],
      ...over,
    });
  const rules = [{ id: 'P1', title: 'Times carry an offset', since: 0 }];

  it('has shares before and after it was taught, with the first day split at the first prompt that taught it', () => {
    const rows = [
      asked(0, 'f1', { broken: ['P1'] }),
      asked(0, 'f2', {}),
      asked(1, 'f1', { broken: ['P1'] }),
      asked(1, 'f2', { taught: ['P1'] }),
      asked(2, 'f1', { taught: ['P1'] }),
      asked(2, 'f2', { broken: ['P1'] }),
      row({ condition: 'skills', day: 2, question: 'f3', kind: 'files', rules: ['P1'] }),
    ];
    const skills = makeQuestionReport(journal(rows, { rules })).rules[0]?.conditions.find(
      ({ condition }) => condition === 'skills',
    );
    expect([skills?.before.value, skills?.before.n]).toEqual([1 / 3, 3]);
    expect([skills?.after.value, skills?.after.n]).toEqual([2 / 3, 3]);
    expect(skills?.obeyed.n).toBe(6);
    expect(skills?.missed).toBe(1);
    expect(skills?.firstTaught).toEqual([{ seed: 1, day: 1 }]);
  });

  it('has its own first day in every seed (a lesson of another seed does not count)', () => {
    const rows = [asked(0, 'f1', { taught: ['P1'] }), asked(0, 'f1', { seed: 2, broken: ['P1'] })];
    const skills = makeQuestionReport(journal(rows, { rules })).rules[0]?.conditions[1];
    expect([skills?.before.n, skills?.after.n]).toEqual([1, 1]);
    expect(skills?.firstTaught).toEqual([{ seed: 1, day: 0 }]);
  });

  it('is reported even if the head does not list it', () => {
    const found = makeQuestionReport(journal([asked(0, 'f1', { rules: ['X9'] })])).rules;
    expect(found.map(({ id, since }) => [id, since])).toEqual([['X9', undefined]]);
  });

  it('has intervals that cover the simulated rates: 35 % before, 92 % after', () => {
    const { rules: all } = makeQuestionReport(simulateJournal({ conditions: ['baseline', 'skills'] }));
    expect(all).toHaveLength(RULES.length);
    const inside = (interval: { low: number; high: number } | undefined, truth: number): number =>
      interval !== undefined && interval.low <= truth && truth <= interval.high ? 1 : 0;
    let hits = 0;
    for (const { conditions } of all) {
      const [baseline, skills] = conditions;
      hits += inside(baseline?.before.interval, 0.35);
      hits += inside(skills?.before.interval, 0.35);
      hits += inside(skills?.after.interval, 0.92);
      expect(baseline?.after.n).toBe(0);
      expect(skills?.firstTaught).toHaveLength(3);
    }
    // Fifteen intervals of 95 %.
    expect(hits).toBeGreaterThanOrEqual(12);
  });
});
