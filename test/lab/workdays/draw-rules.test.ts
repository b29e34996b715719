import { describe, expect, it } from 'vitest';
import {
  type DrawnRuleSet,
  drawRuleOf,
  drawRuleSet,
  formsOf,
  valuesIn,
} from '../../../lab/suites/workdays/rules/draw-rules.ts';
import type { RuleOrigin } from '../../../lab/suites/workdays/rules/split-values.ts';
import { SPLITS } from '../../../lab/suites/workdays/world.ts';
import { mutate } from './files-mutate.ts';

const ORIGINS: readonly RuleOrigin[] = ['seen', 'unseen-parameters', 'unseen-forms'];
const drawn = ORIGINS.filter((origin) => formsOf(origin).length > 0);

/** Every rule counts from the first day on. */
const fromTheStart = (set: DrawnRuleSet): DrawnRuleSet => ({
  ...set,
  rules: set.rules.map((rule) => ({ ...rule, since: 0 })),
});

describe('a drawn rule set', () => {
  it.each(drawn)('is kept, broken by leaving any rule out and by every near miss, from %s', (origin) => {
    const seen = { right: 0, removed: 0, slips: 0 };
    for (let seed = 0; seed < 24; seed++) {
      const set = fromTheStart(drawRuleSet({ seed, origin, count: 5 }));
      const split = SPLITS[seed % SPLITS.length] ?? 'train';
      mutate(set, split, `drawn/${origin}/${seed}`, seed % 14, seen);
    }
    expect(seen.right).toBeGreaterThan(150);
    expect(seen.removed).toBeGreaterThan(250);
    expect(seen.slips).toBeGreaterThan(700);
  });
});

describe('the split of values', () => {
  it('gives no form a value that it has on the other side, and no seen rule one of the house', () => {
    const house = [HOUSE_RULES_VALUES, OTHER_RULES_VALUES].flat();
    const seen = valuesByForm('seen');
    for (const [form, values] of valuesByForm('unseen-parameters')) {
      const both = [...values].filter(
        (value) => seen.get(form)?.has(value) === true && !FREE.includes(value),
      );
      expect(both, form).toEqual([]);
      expect(
        house.filter((value) => seen.get(form)?.has(value) === true),
        form,
      ).toEqual([]);
    }
  });

  it('draws rules of every form that pre-training sees, from either side', () => {
    for (const origin of ['seen', 'unseen-parameters'] as const) {
      const names = new Set<string>();
      for (let seed = 0; seed < 120; seed++)
        for (const { form } of drawRuleSet({ seed, origin, count: 5 }).rules) names.add(form);
      expect([...names].sort()).toEqual(
        formsOf(origin)
          .map(({ name }) => name)
          .sort(),
      );
    }
  });

  it('is the same for the same seed, and any seed will do', () => {
    for (const seed of [0, -1, 1.5, Number.NaN, 2 ** 60, '', 'Montag', '\n'])
      for (const origin of drawn) {
        const titles = drawRuleSet({ seed, origin, count: 5 }).rules.map(({ title }) => title);
        expect(drawRuleSet({ seed, origin, count: 5 }).rules.map(({ title }) => title)).toEqual(titles);
        expect(titles.length).toBe(5);
      }
  });
});

/** Values that are on no side: there are too few of them, or they are what the rule is about. */
const FREE = ['front', 'end', '.', ',', 'topic', 'due', 'owner', 'cost'];

/** Values of the two sets, apart from the words that name a place or an order. */
const HOUSE_RULES_VALUES = [
  ...['YYYY-MM-DDTHH:mm:ss+08:00', 'YYYYMMDD', 'snake_case', 'meta', 'created_at', 'author', 'status'],
  ...['pending', 'in_progress', 'done', '.bak', 'done.log', '[DONE] <timestamp> | <task id> | <summary>'],
];
const OTHER_RULES_VALUES = [
  'ascending',
  'OPS-',
  ' ',
  '_comment',
  'Internal - not for customers',
  'checksums.txt',
];

function valuesByForm(origin: RuleOrigin): ReadonlyMap<string, ReadonlySet<string>> {
  const values = new Map<string, Set<string>>();
  for (const form of formsOf(origin)) {
    const own = new Set<string>();
    values.set(form.name, own);
    for (let seed = 0; seed < 120; seed++)
      for (const value of valuesIn(drawRuleOf(form, origin, `${seed}`).parameters)) own.add(value);
  }
  return values;
}
