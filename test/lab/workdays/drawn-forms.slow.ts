import { describe, expect, it } from 'vitest';
import {
  applySteps,
  createDraft,
  stepsOf,
  type WorkDraft,
} from '../../../lab/suites/workdays/files/draft.ts';
import { judgeWork } from '../../../lab/suites/workdays/files/judge-work.ts';
import { makeFileQuestions } from '../../../lab/suites/workdays/files/make-file-questions.ts';
import type { Plan } from '../../../lab/suites/workdays/files/plan.ts';
import { drawRuleOf, drawRuleSet, formsOf } from '../../../lab/suites/workdays/rules/draw-rules.ts';
import type { RuleOrigin } from '../../../lab/suites/workdays/rules/split-values.ts';
import { createWorkdays } from '../../../lab/suites/workdays/workdays.ts';
import { SPLITS } from '../../../lab/suites/workdays/world.ts';
import { createRandom } from '../../../src/base/random.ts';
import { dayOf } from './files-day.ts';
import { textsOf } from './files-mutate.ts';

const ORIGINS: readonly RuleOrigin[] = ['seen', 'unseen-parameters', 'unseen-forms'];
const FORMS = ORIGINS.flatMap((origin) => formsOf(origin).map((form) => [form.name, origin, form] as const));
const PLANS: readonly Plan[] = SPLITS.flatMap((split) =>
  Array.from({ length: 12 }, (_, index) =>
    makeFileQuestions({
      day: dayOf(split, `forms/${split}`, index),
      rules: { name: 'none', rules: [] },
      count: 11,
      seed: `forms/${split}/${index}`,
      split,
    }).questions.map(({ plan }) => plan),
  ).flat(),
);

describe('a form that rules are drawn from', () => {
  it('is one of at least 28 that pre-training sees or of at least 10 that it never sees', () => {
    expect(formsOf('seen').length).toBeGreaterThanOrEqual(28);
    expect(formsOf('unseen-forms').length).toBeGreaterThanOrEqual(10);
    const kinds = formsOf('unseen-forms').map(({ heldOut }) => heldOut);
    expect(kinds.filter((kind) => kind === 'new pair').length).toBeGreaterThanOrEqual(5);
    expect(kinds.filter((kind) => kind === 'new operation').length).toBeGreaterThanOrEqual(4);
    expect(new Set(FORMS.map(([name]) => name)).size).toBe(
      formsOf('seen').length + formsOf('unseen-forms').length,
    );
  });

  it.each(FORMS)(
    '%s from %s: obeyed it passes, left out it fails, and so does every near miss',
    (_, origin, form) => {
      const tried = new Set<string>();
      let left = 0;
      for (let seed = 0; seed < 4; seed++) {
        const rule = drawRuleOf(form, origin, `${seed}`);
        const fitting = PLANS.filter(rule.appliesTo);
        expect(fitting.length, rule.title).toBeGreaterThan(0);
        for (const plan of fitting.slice(0, 5)) {
          const judge = (draft: WorkDraft) =>
            judgeWork(plan, [rule], applySteps(textsOf(plan), stepsOf(draft)));
          expect(judge(rule.obey(createDraft(plan))), rule.title).toMatchObject({
            passed: true,
            isDone: true,
          });
          expect(judge(createDraft(plan)), rule.title).toMatchObject({ isDone: true, broken: [rule.id] });
          left++;
          for (const { name, make } of rule.slips) {
            const slipped = make(createDraft(plan));
            if (slipped === undefined) continue;
            expect(judge(slipped).broken, `${rule.title} ${name}`).toEqual([rule.id]);
            tried.add(name);
          }
        }
      }
      expect(left).toBeGreaterThan(10);
      expect(tried.size).toBeGreaterThanOrEqual(2);
    },
  );

  it.each(FORMS)('%s from %s: has enough wordings, all different, without gaps', (_, origin, form) => {
    const least = { train: 6, gate: 4, report: 4 };
    const rule = drawRuleOf(form, origin, 'words');
    const plan = PLANS.find(rule.appliesTo);
    if (plan === undefined) throw new Error('no task');
    const all = SPLITS.flatMap((split) => {
      const said = new Set(
        Array.from({ length: 100 }, (_, at) => rule.tell(plan, split, createRandom(`say/${at}`))),
      );
      expect(said.size, split).toBeGreaterThanOrEqual(least[split]);
      return [...said];
    });
    expect(new Set(all).size).toBe(all.length);
    for (const said of all) expect(said).not.toMatch(/undefined|\{\w+\}|\brule\b/);
  });
});

describe('a world under drawn rules', () => {
  it.each(ORIGINS)('has its questions, also those on rules, for any seed from %s', (origin) => {
    for (let seed = 0; seed < 2; seed++) {
      const { rules } = drawRuleSet({ seed, origin, count: 6 });
      const suite = createWorkdays({
        seed,
        split: 'report',
        rules: { name: 'drawn', rules: rules.map((rule) => ({ ...rule, since: 0 })) },
        days: 2,
      });
      const asked = suite.days.flatMap(({ questions }) => questions);
      expect(asked.length).toBe(2 * 42);
      expect(new Set(asked.flatMap((one) => (one.kind === 'choice' ? (one.rule ?? []) : []))).size).toBe(6);
    }
  });
});
