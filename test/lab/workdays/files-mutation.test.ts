import { describe, expect, it } from 'vitest';
import { applySteps, stepsOf, type WorkDraft } from '../../../lab/suites/workdays/files/draft.ts';
import { judgeWork } from '../../../lab/suites/workdays/files/judge-work.ts';
import { countOf } from '../../support/counts.ts';
import { draftOf, textsOf } from './files-mutate.ts';
import {
  attempt,
  cases,
  count,
  describeDays,
  expectWholeTable,
  oneSplit,
  questionsOf,
  SEEDS,
} from './mutation-cases.ts';

describe('in memory', () => {
  it.each(cases)(
    '%s rules, %s: what obeys passes, each single violation and each near miss fails',
    (_, split, rules) => {
      for (const seed of [...SEEDS, ...['m5', 'm6'].slice(0, countOf(0, 2))])
        for (const { plan, taskKind, text, rules: ids } of questionsOf(rules, split, seed)) {
          const own = rules.rules.filter(({ id }) => ids.includes(id));
          const judge = (draft: WorkDraft) => judgeWork(plan, own, applySteps(textsOf(plan), stepsOf(draft)));
          expect(judge(draftOf(plan, own)), text).toMatchObject({ passed: true, isDone: true, broken: [] });
          for (const rule of own) {
            const kind = taskKind;
            count(rule.id, kind, 'right');
            const without = draftOf(
              plan,
              own.filter((other) => other !== rule),
            );
            const verdict = judge(without);
            expect(verdict, `${text} without ${rule.id}`).toMatchObject({
              passed: false,
              isDone: true,
              broken: [rule.id],
            });
            expect(verdict.reasons.every((reason) => reason.startsWith(`${rule.id}: `))).toBe(true);
            count(rule.id, kind, 'removed');
            for (const { name, make } of rule.slips) {
              const slipped = make(without);
              if (slipped === undefined) continue;
              expect(judge(slipped), `${text} with ${rule.id} ${name}`).toMatchObject({
                passed: false,
                broken: [rule.id],
              });
              count(rule.id, kind, 'slips');
            }
          }
          expect(judge(draftOf(plan, []))).toMatchObject({
            isDone: true,
            passed: ids.length === 0,
            broken: ids,
          });
        }
    },
  );
});

/** Every third task here, all of them in `files-mutation.slow.ts` and in `npm run test:slow`. */
const STEP = countOf(3, 1);
const someOf = (...args: Parameters<typeof questionsOf>) =>
  questionsOf(...args).filter((_, nth) => nth % STEP === 0);

describe('in a real workspace, with the real shell', () => {
  it.each(oneSplit)(
    '%s rules, %s: what obeys passes, each single violation fails, nothing done fails',
    async (_, split, rules) => {
      for (const question of someOf(rules, split, 'm1')) {
        expect(await attempt(question, question.solve(new Set(question.rules)))).toEqual({
          status: 'ok',
          passed: true,
          isDone: true,
          broken: [],
          reasons: [],
        });
        for (const rule of question.rules) {
          const others = new Set(question.rules.filter((other) => other !== rule));
          expect(
            await attempt(question, question.solve(others)),
            `${question.text} without ${rule}`,
          ).toMatchObject({ passed: false, isDone: true, broken: [rule] });
        }
        const untouched = await attempt(question, ['done']);
        expect(untouched).toMatchObject({ status: 'ok', passed: false, isDone: false });
        expect(untouched.reasons.some((reason) => reason.startsWith('task: '))).toBe(true);
      }
    },
  );

  it.each(oneSplit)('%s rules, %s: a near miss breaks the rule', async (_, split, rules) => {
    let slips = 0;
    for (const question of someOf(rules, split, 'm1'))
      for (const rule of question.rules)
        for (const { name, commands } of question.slip(rule, new Set(question.rules))) {
          expect(await attempt(question, commands), `${question.text} with ${rule} ${name}`).toMatchObject({
            passed: false,
            broken: [rule],
          });
          slips++;
        }
    expect(slips).toBeGreaterThan(40 / STEP);
  });

  describeDays();
});

describe('the table', () => {
  it(
    'covers every rule in every kind of task to which it applies: obeyed, omitted and nearly obeyed',
    expectWholeTable,
  );
});
