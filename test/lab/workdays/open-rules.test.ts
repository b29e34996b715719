import { describe, expect, it } from 'vitest';
import { createRuleSet, RuleSetError } from '../../../lab/suites/workdays/rules/create-rule-set.ts';
import { openRules } from '../../../lab/suites/workdays/rules/open-rules.ts';

describe('the rules that an option names', () => {
  it('are the house rules, other rules, or drawn rules for any seed', () => {
    expect(openRules('house').rules.map(({ id }) => id)).toEqual(['P1', 'P2', 'P3', 'P4', 'P5']);
    expect(openRules('other').rules.map(({ id }) => id)).toEqual(['Q1', 'Q2', 'Q3', 'Q4', 'Q5']);
    for (const seed of ['1', 'x', '-3.5', 'a/b']) {
      expect(openRules(`seed:${seed}`).rules.length, seed).toBe(5);
      expect(openRules(`seed:${seed}`)).not.toEqual(openRules('seed:2'));
    }
  });

  it('are refused with what to change if there are none', () => {
    expect(() => openRules('/nowhere.json')).toThrow(RuleSetError);
    expect(() => openRules('/nowhere.json')).toThrow('use house, other, seed:N');
    expect(() => openRules('seed:1:unheard')).toThrow('use house, other, seed:N');
  });
});

describe('a rule file without "teaches"', () => {
  const vague = (said: string) => ({
    name: 'vague',
    rules: [
      {
        ...{ id: 'V1', title: 'V1', about: 'how a ticket is written', form: 'ticket-prefix', since: 0 },
        parameters: { prefix: 'ZQ-' },
        feedback: { train: [said], gate: [said], report: [said] },
      },
    ],
  });

  it('may have wordings that do not say all, and knows which texts do', () => {
    const [rule] = createRuleSet(vague('Not like that.'), 'vague').rules;
    expect(rule?.isTaughtBy('Not like that.')).toBe(false);
    expect(rule?.isTaughtBy('Write it as ZQ-412.')).toBe(true);
  });

  it('may not have an unknown gap', () => {
    expect(() => createRuleSet(vague('Use {exampel}.'), 'vague')).toThrow(
      '{exampel} is not a known placeholder',
    );
  });
});
