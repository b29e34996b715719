import { describe, expect, it } from 'vitest';
import { HOUSE_RULES } from '../../../lab/suites/workdays/rules/house-rules.ts';
import { makeRuleChoice } from '../../../lab/suites/workdays/rules/make-rule-choice.ts';
import { OTHER_RULES } from '../../../lab/suites/workdays/rules/other-rules.ts';
import { type DayWorld, SPLITS, type Split } from '../../../lab/suites/workdays/world.ts';
import { createDistiller } from '../../../src/learn/distiller/distiller.ts';
import { failure, learnFrom } from '../../learn/evolver/samples.ts';
import { countOf } from '../../support/counts.ts';
import { proposedText } from '../../support/proposed-text.ts';
import { dayOf } from './files-day.ts';

const RULES = [HOUSE_RULES, OTHER_RULES].flatMap((set) =>
  set.rules.map((rule) => [rule.id, rule, set] as const),
);

const days = new Map<string, DayWorld>();
/** All rules count on it; made once for all of them. */
function lastDay(split: Split, number: number): DayWorld {
  const key = `${split}/${number}`;
  const day = days.get(key) ?? dayOf(split, `choice/${number}`, 13);
  days.set(key, day);
  return day;
}

describe('a question on a rule', () => {
  it.each(RULES)(
    '%s: has right and wrong options as its own check decides, in every pattern of letters',
    (_, rule, rules) => {
      const patterns = new Set<string>();
      const texts = new Set<string>();
      let right = 0;
      let all = 0;
      for (const split of SPLITS)
        for (let number = 0; number < 20; number++) {
          const day = lastDay(split, number);
          const make = () =>
            makeRuleChoice({ rule, rules, day, id: 'c01', seed: `choice/${split}/${number}`, split });
          const question = make();
          if (number < 4) expect(JSON.stringify(make())).toBe(JSON.stringify(question));
          const letters = Object.keys(question.options);
          expect(letters.length).toBeGreaterThanOrEqual(2);
          expect(question.text.split(/\s+/).length).toBeLessThan(80);
          expect(new Set(Object.values(question.options)).size).toBe(letters.length);
          expect(question.answer.length).toBeGreaterThan(0);
          expect(question.rule).toBe(rule.id);
          for (const option of Object.values(question.options)) expect(question.text).toContain(option);
          expect(question.text).toContain('\\bbox{');
          patterns.add(question.answer.join());
          texts.add(question.text);
          right += question.answer.length;
          all += letters.length;
        }
      expect(texts.size).toBe(60);
      // Every non-empty set of letters comes up, of the two or four that a question on this rule has.
      expect([3, 15]).toContain(patterns.size);
      // Of n letters 2^(n-1) / (2^n - 1) are right: a little more than half, of two letters two thirds.
      expect(right / all).toBeGreaterThan(0.44);
      expect(right / all).toBeLessThan(patterns.size === 3 ? 0.76 : 0.66);
    },
  );

  it.each(RULES)(
    '%s: states the rule after a wrong answer, and not after a right one',
    async (_, rule, rules) => {
      const distiller = createDistiller({});
      let strayed = 0;
      for (const split of SPLITS)
        for (let number = 0; number < countOf(4, 10); number++) {
          const day = lastDay(split, number);
          const question = makeRuleChoice({
            rule,
            rules,
            day,
            id: 'c01',
            seed: `told/${number}`,
            split,
          });
          const letters = Object.keys(question.options);
          const wrong = letters.filter((letter) => !question.answer.includes(letter));
          expect(question.feedback(question.answer)).toBe('That is right, all of it.');
          expect(rule.isTaughtBy(question.feedback(undefined))).toBe(false);
          const said = question.feedback(wrong);
          expect(rule.isTaughtBy(said)).toBe(true);
          for (const letter of letters) expect(said).toContain(` ${letter} `);
          const { proposals } = await learnFrom(distiller, [
            failure({ passages: [{ origin: 'person', text: said }] }),
          ]);
          const contents = proposals.map((proposal) => proposedText(proposal).content);
          expect(contents.filter((content) => rule.isTaughtBy(content)).length).toBeGreaterThan(0);
          strayed += contents.filter((content) => content.includes('have taken')).length;
        }
      expect(strayed).toBe(0);
    },
  );
});
