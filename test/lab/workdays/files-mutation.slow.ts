import { describe, expect, it } from 'vitest';
import { attempt, cases, count, expectWholeTable, oneSplit, questionsOf, SEEDS } from './mutation-cases.ts';

describe('every rule in every kind of task, in a real workspace with the real shell', () => {
  it.each(cases)('%s rules, %s: what obeys passes, each single violation fails', async (_, split, rules) => {
    for (const seed of SEEDS)
      for (const question of questionsOf(rules, split, seed)) {
        const all = new Set(question.rules);
        const kind = question.taskKind;
        expect(await attempt(question, question.solve(all))).toEqual({
          status: 'ok',
          passed: true,
          isDone: true,
          broken: [],
          reasons: [],
        });
        for (const rule of question.rules) {
          count(rule, kind, 'right');
          const others = new Set(question.rules.filter((other) => other !== rule));
          const verdict = await attempt(question, question.solve(others));
          expect(verdict, `${question.text} without ${rule}`).toMatchObject({
            passed: false,
            isDone: true,
            broken: [rule],
          });
          expect(verdict.reasons.every((reason) => reason.startsWith(`${rule}: `))).toBe(true);
          count(rule, kind, 'removed');
        }
        const none = await attempt(question, question.solve(new Set()));
        expect(none).toMatchObject({
          isDone: true,
          passed: question.rules.length === 0,
          broken: question.rules,
        });
      }
  });

  it.each(oneSplit)('%s rules, %s: a near miss breaks the rule', async (_, split, rules) => {
    for (const question of [...SEEDS, 'm5', 'm6'].flatMap((seed) => questionsOf(rules, split, seed))) {
      const all = new Set(question.rules);
      for (const rule of question.rules)
        for (const { name, commands } of question.slip(rule, all)) {
          const verdict = await attempt(question, commands);
          expect(verdict, `${question.text} with ${rule} ${name}`).toMatchObject({
            passed: false,
            broken: [rule],
          });
          count(rule, question.taskKind, 'slips');
        }
    }
  });

  it.each(cases)('%s rules, %s: an untouched workspace fails every task', async (_, split, rules) => {
    for (const question of questionsOf(rules, split, 'm1')) {
      const verdict = await attempt(question, ['done']);
      expect(verdict).toMatchObject({ status: 'ok', passed: false, isDone: false });
      expect(verdict.reasons.filter((reason) => reason.startsWith('task: ')).length).toBeGreaterThan(0);
    }
  });
});

describe('the table', () => {
  it(
    'covers every rule in every kind of task to which it applies: obeyed, omitted and nearly obeyed',
    expectWholeTable,
  );
});
