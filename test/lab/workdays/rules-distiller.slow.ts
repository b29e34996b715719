import { describe, expect, it } from 'vitest';
import {
  makeFileQuestions,
  type PlannedQuestion,
} from '../../../lab/suites/workdays/files/make-file-questions.ts';
import { HOUSE_RULES } from '../../../lab/suites/workdays/rules/house-rules.ts';
import { OTHER_RULES } from '../../../lab/suites/workdays/rules/other-rules.ts';
import type { HouseRule, RuleSet } from '../../../lab/suites/workdays/rules/rule-set.ts';
import { SPLITS, type Split } from '../../../lab/suites/workdays/world.ts';
import type { FailureCase } from '../../../src/core/learn.ts';
import { createDistiller } from '../../../src/learn/distiller/distiller.ts';
import { checkLessonText } from '../../../src/lessons/check-lesson-text.ts';
import { failure, learnFrom } from '../../learn/evolver/samples.ts';
import { proposedText } from '../../support/proposed-text.ts';
import { dayOf } from './files-day.ts';

const SEEDS = 20;
const distiller = createDistiller({ checkText: checkLessonText, maxNewSkills: 30 });
const cases = [HOUSE_RULES, OTHER_RULES].flatMap((set) =>
  set.rules.flatMap((rule) => SPLITS.map((split) => [rule.id, split, rule, set] as const)),
);

/** A task that the rule counts for; a day of short tasks may have none. */
function taskFor(set: RuleSet, rule: HouseRule, split: Split, number: number, attempt = 0): PlannedQuestion {
  const seed = `distil/${split}/${number}${attempt === 0 ? '' : `/${attempt}`}`;
  const day = dayOf(split, seed, 13);
  const { questions } = makeFileQuestions({ day, rules: set, count: 11, seed, split });
  const fitting = questions.filter(({ rules }) => rules.includes(rule.id));
  const chosen = fitting[number % fitting.length];
  if (chosen !== undefined) return chosen;
  if (attempt > 5) throw new Error(`no task for ${rule.id}`);
  return taskFor(set, rule, split, number, attempt + 1);
}

const told = (question: PlannedQuestion, broken: readonly string[], number: number): FailureCase =>
  failure({
    turn: `t${number}`,
    session: `s${number}`,
    task: question.text,
    passages: [
      { origin: 'user', text: question.text },
      {
        origin: 'person',
        text: question.feedback({ status: 'ok', passed: false, isDone: true, broken, reasons: [] }),
      },
    ],
  });

/** The skills that come of it, each as a text: a rule counts as learned when one of them is enough to obey it. */
async function learnedFrom(material: readonly FailureCase[]): Promise<readonly string[]> {
  const { proposals } = await learnFrom(distiller, material);
  return proposals.map(proposedText).map(({ description, content }) => `${description}\n${content}`);
}

describe('what the built-in distiller learns from feedback alone', () => {
  it.each(cases)(
    '%s, in feedback worded as in %s, is learned from one failure in 9 of 10 cases',
    async (_, split, rule, set) => {
      const missed: string[] = [];
      const strayed: string[] = [];
      for (let number = 0; number < SEEDS; number++) {
        const question = taskFor(set, rule, split, number);
        const material = told(question, [rule.id], number);
        const skills = await learnedFrom([material]);
        if (!skills.some(rule.isTaughtBy)) missed.push(material.passages[1]?.text ?? '');
        for (const other of set.rules)
          if (other !== rule && skills.some(other.isTaughtBy)) strayed.push(`${other.id}: ${skills.join()}`);
      }
      expect(missed.length, [...new Set(missed)].join('\n')).toBeLessThanOrEqual(SEEDS / 10);
      expect(strayed).toEqual([]);
    },
  );

  it.each(SPLITS)(
    'all five rules of either set, broken at once, are learned from a few tasks worded as in %s',
    async (split) => {
      for (const set of [HOUSE_RULES, OTHER_RULES])
        for (let number = 0; number < 5; number++) {
          const material = set.rules.map((rule, at) => {
            const question = taskFor(set, rule, split, number * 10 + at);
            return told(question, question.rules, number * 10 + at);
          });
          const skills = await learnedFrom(material);
          expect(set.rules.filter((rule) => !skills.some(rule.isTaughtBy)).map(({ id }) => id)).toEqual([]);
        }
    },
  );
});
