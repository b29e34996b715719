import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createRuleSet, RuleSetError } from '../../../lab/suites/workdays/rules/create-rule-set.ts';
import { openRules } from '../../../lab/suites/workdays/rules/open-rules.ts';
import type { RuleSet } from '../../../lab/suites/workdays/rules/rule-set.ts';
import { SPLITS } from '../../../lab/suites/workdays/world.ts';
import { mutate } from './files-mutate.ts';

const FOLDER = 'lab/suites/workdays/rules/sets';
const SETS = readdirSync(FOLDER).filter((file) => file.endsWith('.json'));
const fromTheStart = ({ name, rules }: RuleSet): RuleSet => ({
  name,
  rules: rules.map((rule) => ({ ...rule, since: 0 })),
});

describe('the rules that an option names', () => {
  it('are the house rules, other rules, drawn rules for any seed, or a file', () => {
    expect(openRules('house').rules.map(({ id }) => id)).toEqual(['P1', 'P2', 'P3', 'P4', 'P5']);
    expect(openRules('other').rules.map(({ id }) => id)).toEqual(['Q1', 'Q2', 'Q3', 'Q4', 'Q5']);
    for (const seed of ['1', 'x', '', '-3.5', 'a:b']) {
      expect(openRules(`seed:${seed}:unseen-forms`).rules.length, seed).toBe(5);
      expect(openRules(`seed:${seed}:unseen-forms`)).not.toEqual(openRules('seed:2:unseen-forms'));
    }
    expect(openRules('seed:7').name).toBe('unseen-parameters 7');
    expect(SETS.length).toBeGreaterThanOrEqual(2);
  });

  it('are refused with what to change if there are none', () => {
    expect(() => openRules('/nowhere.json')).toThrow(RuleSetError);
    expect(() => openRules('/nowhere.json')).toThrow('use house, other, seed:N');
    expect(() => openRules('seed:1:unheard')).toThrow('use one of seen, unseen-parameters, unseen-forms');
  });

  it.each(SETS)('%s is kept, broken by leaving a rule out and by every near miss', (file) => {
    const set = fromTheStart(openRules(path.join(FOLDER, file)));
    const seen = { right: 0, removed: 0, slips: 0 };
    for (const split of SPLITS)
      for (let seed = 0; seed < 2; seed++) mutate(set, split, `${split}/${file}/${seed}`, 9, seen);
    expect(seen.removed).toBeGreaterThan(100);
    expect(seen.slips).toBeGreaterThan(250);
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
