import { describe, expect, it } from 'vitest';
import type { Suite, SuiteQuestion } from '../../../lab/suites/suite.ts';
import { HOUSE_RULES } from '../../../lab/suites/workdays/rules/house-rules.ts';
import { OTHER_RULES } from '../../../lab/suites/workdays/rules/other-rules.ts';
import { createWorkdays } from '../../../lab/suites/workdays/workdays.ts';
import { SPLITS, type Split } from '../../../lab/suites/workdays/world.ts';
import { nearDuplicates } from './near-duplicates.ts';

const questionsOf = (suite: Suite): readonly SuiteQuestion[] =>
  suite.days.flatMap(({ questions }) => questions);
/** How alike two questions of different splits may be. */
const NEAR = 0.6;
const SEEDS = [1];

const verdict = { status: 'ok', passed: false, broken: ['P1'], reasons: ['a reason'] } as const;

/** All that a suite says, what its functions say included. */
const bytesOf = (suite: Suite): string =>
  JSON.stringify([
    suite,
    questionsOf(suite).map((question) =>
      question.kind === 'choice'
        ? [question.feedback(['A']), question.feedback(undefined)]
        : [question.feedback(verdict), question.solve?.(new Set(question.rules))],
    ),
  ]);

describe('createWorkdays', () => {
  const suite = createWorkdays({ seed: 11, split: 'train' });

  it('has 14 days of 31 choices and 11 file checks: 588, none repeated', () => {
    expect(suite.days.map(({ id }) => id)).toEqual(
      Array.from({ length: 14 }, (_, at) => `day${String(at + 1).padStart(2, '0')}`),
    );
    for (const { questions } of suite.days) {
      expect(questions.filter(({ kind }) => kind === 'choice')).toHaveLength(31);
      expect(questions.filter(({ kind }) => kind === 'files')).toHaveLength(11);
    }
    const all = questionsOf(suite);
    expect(all).toHaveLength(588);
    expect(new Set(all.map(({ id }) => id)).size).toBe(588);
    expect(new Set(all.map(({ text }) => text)).size).toBe(588);
  });

  it('spreads the file checks over the day', () => {
    for (const { questions } of suite.days) {
      const places = questions.flatMap(({ kind }, at) => (kind === 'files' ? [at] : []));
      const gaps = places.slice(1).map((place, at) => place - (places[at] ?? 0));
      expect(places[0]).toBeGreaterThan(0);
      expect(Math.min(...gaps)).toBeGreaterThanOrEqual(3);
      expect(Math.max(...gaps)).toBeLessThanOrEqual(5);
    }
  });

  it('is byte-identical for the same seed, and differs for another seed or split', () => {
    const again = bytesOf(createWorkdays({ seed: 11, split: 'train' }));
    expect(again).toBe(bytesOf(suite));
    expect(bytesOf(createWorkdays({ seed: 12, split: 'train' }))).not.toBe(again);
    expect(bytesOf(createWorkdays({ seed: 11, split: 'gate' }))).not.toBe(again);
  });

  it('begins with the same days when fewer are requested', () => {
    const few = createWorkdays({ seed: 11, split: 'train', days: 3 });
    expect(JSON.stringify(few.days)).toBe(JSON.stringify(suite.days.slice(0, 3)));
    expect(() => createWorkdays({ seed: 11, split: 'train', days: 15 })).toThrow(RangeError);
  });

  it('asks six rule questions a day, only about active rules, and in the end about all', () => {
    const seen = new Set<string>();
    for (const [index, { questions }] of suite.days.entries()) {
      const onRules = questions.flatMap((question) =>
        question.kind === 'choice' && question.rule !== undefined ? [question.rule] : [],
      );
      expect(onRules.length).toBeGreaterThanOrEqual(5);
      expect(onRules.length).toBeLessThanOrEqual(6);
      const active = suite.rules.filter(({ since }) => since <= index).map(({ id }) => id);
      expect(active).toEqual(expect.arrayContaining(onRules));
      for (const rule of onRules) seen.add(rule);
      for (const question of questions) {
        if (question.kind === 'files') expect(active).toEqual(expect.arrayContaining([...question.rules]));
      }
    }
    expect([...seen].toSorted()).toEqual(['P1', 'P2', 'P3', 'P4', 'P5']);
  });

  it('states no rule: neither in the system prompt nor in any file, document question or option', () => {
    let read = 0;
    for (const rules of [HOUSE_RULES, OTHER_RULES]) {
      const { days } = createWorkdays({ seed: 3, split: 'gate', rules });
      for (const day of days) {
        const texts = 'texts' in day.files ? Object.values(day.files.texts) : [];
        const asked = day.questions.flatMap((question) =>
          question.kind === 'files' || question.rule === undefined ? [question.text] : [],
        );
        for (const text of [day.system, ...texts, ...asked]) {
          read++;
          expect(
            rules.rules.filter((rule) => rule.isTaughtBy(text)).map(({ id }) => `${id}: ${text}`),
          ).toEqual([]);
        }
      }
    }
    expect(read).toBeGreaterThan(14 * 2 * 30);
  });

  it('has no near-duplicate questions in two splits', () => {
    const texts = SPLITS.map((split) => textsOf(split));
    let compared = 0;
    for (const [at, one] of texts.entries()) {
      for (const other of texts.slice(at + 1)) {
        const near = nearDuplicates(one, other, NEAR);
        compared += near.compared;
        expect(near.pairs.slice(0, 3).map(({ a, b }) => [one[a], other[b]])).toEqual([]);
      }
    }
    expect(compared).toBe(3 * (SEEDS.length * 588) ** 2);
    const [train = [], gate = []] = texts;
    const planted = train.map((text, at) => (at === 100 ? (gate[7] ?? '') : text));
    expect(nearDuplicates(planted, gate, NEAR).pairs).toEqual([{ a: 100, b: 7, similarity: 1 }]);
  });
});

describe('the days', () => {
  it('has six arcs, one for each new rule and the last with all of them', () => {
    const arcs = createWorkdays({ seed: 1, split: 'report' }).days.map(({ arc }) => arc?.[0]);
    expect(arcs.join('')).toBe('AAABBCCDDEEFFF');
  });

  it('accepts other rules in place of its own', () => {
    const suite = createWorkdays({ seed: 1, split: 'train', rules: OTHER_RULES });
    expect(suite.rules.map(({ id }) => id).toSorted()).toEqual(
      OTHER_RULES.rules.map(({ id }) => id).toSorted(),
    );
    expect(questionsOf(suite)).toHaveLength(588);
  });
});

const textsOf = (split: Split): readonly string[] =>
  SEEDS.flatMap((seed) => questionsOf(createWorkdays({ seed, split })).map(({ text }) => text));
