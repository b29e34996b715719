import { describe, expect, it } from 'vitest';
import { type DrawnRuleSet, drawRuleSet, formsOf, valuesIn } from '../../../lab/workdays/rules/draw-rules.ts';
import { isHeldOut, type RuleOrigin } from '../../../lab/workdays/rules/split-values.ts';
import { SPLITS } from '../../../lab/workdays/world.ts';
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
    for (let seed = 0; seed < 60; seed++) {
      const set = fromTheStart(drawRuleSet({ seed, origin, count: 5 }));
      const split = SPLITS[seed % SPLITS.length] ?? 'train';
      mutate(set, seed % 4 === 0 ? 'full' : 'short', split, `drawn/${origin}/${seed}`, seed % 14, seen);
    }
    expect(seen.right).toBeGreaterThan(400);
    expect(seen.removed).toBeGreaterThan(800);
    expect(seen.slips).toBeGreaterThan(3000);
  });
});

describe('the split of values', () => {
  it('draws nothing that is held out for seen rules, and only held-out values otherwise', () => {
    for (let seed = 0; seed < 100; seed++) {
      for (const { parameters, title } of drawRuleSet({ seed, origin: 'seen', count: 99 }).rules)
        expect(
          valuesIn(parameters).filter((value) => isHeldOut(value) && !FREE.includes(value)),
          title,
        ).toEqual([]);
      for (const { parameters, title } of drawRuleSet({ seed, origin: 'unseen-parameters', count: 99 }).rules)
        expect(
          valuesIn(parameters).filter((value) => !isHeldOut(value) && !FREE.includes(value)),
          title,
        ).toEqual([]);
    }
  });

  it('draws rules of every form that pre-training sees, from either side', () => {
    for (const origin of ['seen', 'unseen-parameters'] as const) {
      const names = new Set<string>();
      for (let seed = 0; seed < 200; seed++)
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

/** Values that are on no side: there are only two of them. */
const FREE = ['front', 'end'];
