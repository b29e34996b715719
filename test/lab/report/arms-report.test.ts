import { describe, expect, it } from 'vitest';
import { questionJson } from '../../../lab/report/question-json.ts';
import { questionMarkdown, questionSummary } from '../../../lab/report/question-markdown.ts';
import { makeQuestionReport } from '../../../lab/report/question-report.ts';
import { armLabel, CONDITIONS } from '../../../lab/suites/arms.ts';
import { graded, journal, night } from './journals.ts';

const RULES = [
  { id: 's1-D1', title: 'a suffix', since: 0, form: 'suffix', origin: 'unseen-parameters', seed: 1 },
  { id: 's2-D1', title: 'another suffix', since: 0, form: 'suffix', origin: 'unseen-parameters', seed: 2 },
];

/** Two seeds of four days: a task with a rule, and one that needs no lesson, which lessons disturb in `skills` alone. */
const rows = CONDITIONS.flatMap((condition) =>
  [1, 2].flatMap((seed) =>
    [0, 1, 2, 3].flatMap((day) => {
      const rule = `s${seed}-D1`;
      const isTaught = condition !== 'baseline' && condition !== 'notes';
      const place = { condition, seed, day, dayId: `day0${day + 1}`, kind: 'files' as const };
      return [
        graded(isTaught ? 1 : 0, {
          ...place,
          question: 'ruled',
          rules: [rule],
          broken: isTaught ? [] : [rule],
          taught: isTaught ? [rule] : [],
          known: isTaught ? [rule] : [],
          byLine: day === 0 && isTaught ? [rule] : [],
          told: condition === 'notes' ? [rule] : [],
          lessons: isTaught ? ['l1'] : [],
        }),
        graded(condition === 'skills' ? 0 : 1, { ...place, question: 'free' }),
      ];
    }),
  ),
);
const given = journal(rows, { conditions: CONDITIONS, seeds: [1, 2], questions: 8, rules: RULES });
const report = makeQuestionReport({
  ...given,
  nights: [
    night({ condition: 'full-oracle', tokens: 500, ms: 3_000 }),
    night({ condition: 'full', steps: 0, pairs: 0, moves: ['nothing was trained: no tasks'], serving: 0 }),
  ],
  learning: [{ condition: 'skills', seed: 1, day: 0, calls: 3, tokens: 900, usd: 0 }],
});

describe('a report with all arms', () => {
  it('compares each arm with those it is meant for, and not all with all', () => {
    const couples = new Set(report.differences.map(({ of, against }) => `${of} ${against}`));
    expect(couples).toContain('skills notes');
    expect(couples).toContain('full-oracle full');
    expect(couples).not.toContain('full all-lessons');
    expect(couples.size).toBe(15);
  });

  it('shows a disturbance of work that needs no lesson in the arm that has it, and in no other', () => {
    const means = report.arms.interference
      .filter(({ measure }) => measure === 'completion')
      .map(({ of, mean }) => [of, mean]);
    expect(means).toEqual(CONDITIONS.slice(1).map((name) => [name, name === 'skills' ? -1 : 0]));
    expect(report.arms.interference.every(({ pairs }) => pairs === 8)).toBe(true);
  });

  it('counts rules of one form over the seeds, each seed with its own rule', () => {
    expect(report.arms.forms).toHaveLength(1);
    const [form] = report.arms.forms;
    expect(form).toMatchObject({ form: 'suffix', origin: 'unseen-parameters' });
    expect(form?.rules.map(({ id }) => id)).toEqual(['s1-D1', 's2-D1']);
    expect(form?.conditions.map(({ condition, obeyed }) => [condition, obeyed.value, obeyed.n])).toEqual(
      CONDITIONS.map((name) => [name, name === 'baseline' || name === 'notes' ? 0 : 1, 8]),
    );
  });

  it('tells a lesson in the prompt from feedback in it, and whole lessons from index lines', () => {
    const source = (name: string) => report.arms.sources.find(({ condition }) => condition === name);
    expect([source('notes')?.inFeedback.n, source('notes')?.inLesson.n]).toEqual([8, 0]);
    expect([source('baseline')?.nowhere.n, source('skills')?.inLesson.n]).toEqual([8, 8]);
    const recall = report.arms.recall.find(({ condition }) => condition === 'skills');
    expect(recall).toMatchObject({ needed: 8, body: 6, line: 2, missing: 0 });
    expect(report.arms.recall.map(({ condition }) => condition)).not.toContain('baseline');
  });

  it('has the cost of training and of learning models beside the tokens of answers', () => {
    const cost = (name: string) => report.costs.find(({ condition }) => condition === name);
    expect(cost('full-oracle')).toMatchObject({ trainingMs: 3_000, trainingTokens: 500 });
    expect(cost('skills')).toMatchObject({ learningCalls: 3, learningTokens: 900, trainingMs: 0 });
  });

  it('begins with one page that names every arm, and says oracle rewards in the headline', () => {
    const text = questionSummary(report);
    expect(text.split('\n').length).toBeLessThan(60);
    for (const name of CONDITIONS) expect(text).toContain(armLabel(name));
    expect(text).toContain('full-oracle has oracle rewards');
    expect(text).toMatch(/\| full \(oracle rewards\) \| 100\.0/);
  });

  it('has all arms in the JSON and in Markdown, with what each gives and withholds', () => {
    const json = questionJson(report);
    const markdown = questionMarkdown(report);
    for (const name of CONDITIONS)
      expect(json.conditions[name]?.rewards).toBe(
        name === 'full' ? 'deployable' : name === 'full-oracle' ? 'oracle' : 'none',
      );
    expect(json.arms.arms.map(({ name }) => name)).toEqual(CONDITIONS);
    expect(markdown).toContain('| full-oracle: full (oracle rewards) |');
    expect(markdown).toContain('nothing was trained: no tasks');
    expect(markdown).not.toMatch(/NaN|undefined/);
  });

  it('warns of a run of an earlier version (not silently mixing it with newer ones)', () => {
    const { arms: _, ...head } = given.head;
    const old = makeQuestionReport({ ...given, head });
    expect(old.remarks.join(' ')).toContain('A run of an earlier version');
    expect(report.remarks.join(' ')).not.toContain('earlier version');
  });
});
