import { describe, expect, it } from 'vitest';
import { drawRuleSet } from '../../../lab/suites/workdays/rules/draw-rules.ts';
import { DRAWN_FORMS } from '../../../lab/suites/workdays/rules/drawn-forms.ts';
import type { RuleSet } from '../../../lab/suites/workdays/rules/rule-set.ts';
import { createWorkdays } from '../../../lab/suites/workdays/workdays.ts';
import { SPLITS } from '../../../lab/suites/workdays/world.ts';
import { mutate } from './files-mutate.ts';

/** Every rule counts from the first day on. */
const fromTheStart = ({ name, rules }: RuleSet): RuleSet => ({
  name,
  rules: rules.map((rule) => ({ ...rule, since: 0 })),
});

describe('a drawn rule set', () => {
  it('is kept, broken by leaving any rule out and by every near miss', () => {
    const seen = { right: 0, removed: 0, slips: 0 };
    for (let seed = 0; seed < 24; seed++) {
      const split = SPLITS[seed % SPLITS.length] ?? 'train';
      mutate(fromTheStart(drawRuleSet(seed, 5)), split, `drawn/${seed}`, seed % 14, seen);
    }
    expect(seen.right).toBeGreaterThan(150);
    expect(seen.removed).toBeGreaterThan(250);
    expect(seen.slips).toBeGreaterThan(700);
  });

  it('has rules of every form, sooner or later', () => {
    const names = new Set<string>();
    for (let seed = 0; seed < 60; seed++) for (const { form } of drawRuleSet(seed, 5).rules) names.add(form);
    expect([...names].sort()).toEqual(DRAWN_FORMS.map(({ name }) => name).sort());
  });

  it('is the same for the same seed, and any seed will do', () => {
    for (const seed of [0, -1, 1.5, Number.NaN, 2 ** 60, '', 'Montag', '\n']) {
      const titles = drawRuleSet(seed, 5).rules.map(({ title }) => title);
      expect(drawRuleSet(seed, 5).rules.map(({ title }) => title)).toEqual(titles);
      expect(titles.length).toBe(5);
    }
  });

  it('makes a world with questions on each of its rules', () => {
    for (let seed = 0; seed < 2; seed++) {
      const rules = fromTheStart(drawRuleSet(seed, 6));
      const asked = createWorkdays({ seed, split: 'report', rules, days: 2 }).days.flatMap(
        ({ questions }) => questions,
      );
      expect(asked.length).toBe(2 * 42);
      expect(new Set(asked.flatMap((one) => (one.kind === 'choice' ? (one.rule ?? []) : []))).size).toBe(6);
    }
  });
});
