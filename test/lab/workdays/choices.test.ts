import { describe, expect, it } from 'vitest';
import { makeChoices } from '../../../lab/suites/workdays/choices/make-choices.ts';
import { QUESTION_KINDS } from '../../../lab/suites/workdays/choices/question-kinds.ts';
import { makeDays } from '../../../lab/suites/workdays/make-world/make-days.ts';
import { SPLITS } from '../../../lab/suites/workdays/world.ts';

const questions = SPLITS.flatMap((split) =>
  [1, 2, 3].flatMap((seed) =>
    makeDays(split, seed).flatMap((facts) => {
      const ids = Array.from({ length: 25 }, (_, at) => `${facts.day.id}-${at}`);
      return makeChoices({ facts, ids, seed: `${split}/${seed}`, asked: new Set() });
    }),
  ),
);
const LETTERS = ['A', 'B', 'C', 'D'];

describe('makeChoices', () => {
  it('asks every kind, and the requested number', () => {
    expect(questions).toHaveLength(3 * 3 * 14 * 25);
    const kinds = new Set(questions.map(({ about }) => about));
    expect([...kinds].toSorted()).toEqual(QUESTION_KINDS.map(({ name }) => name).toSorted());
  });

  it('makes no letter and no number of letters a good guess: choosing all scores the same as chance', () => {
    // All non-empty sets are as likely: the mean share of right letters is n/2 over those 2^n - 1.
    const score = questions.reduce((sum, { answer }) => sum + answer.length / 4, 0) / questions.length;
    expect(Math.abs(score - 0.5 / (1 - 2 ** -4))).toBeLessThan(0.015);
    for (const letter of LETTERS) {
      const share = questions.filter(({ answer }) => answer.includes(letter)).length / questions.length;
      expect(Math.abs(share - 0.52)).toBeLessThan(0.04);
    }
    const sizes = new Set(questions.map(({ answer }) => answer.length));
    expect([...sizes].toSorted()).toEqual([1, 2, 3, 4]);
  });

  it('names each wrong letter, and no other', () => {
    let wrong = 0;
    for (const { answer, feedback } of questions.slice(0, 1500)) {
      for (const letter of LETTERS) {
        const isRight = answer.includes(letter);
        const chosen = isRight ? answer.filter((other) => other !== letter) : [...answer, letter];
        wrong++;
        expect(feedback(chosen)).toContain(`${letter} is ${isRight ? 'right' : 'wrong'}.`);
        expect(feedback(chosen).match(/ is (?:right|wrong)\./g)).toHaveLength(1);
      }
      expect(feedback(answer)).not.toMatch(/ is (?:right|wrong)\./);
      expect(feedback(undefined)).toContain('\\bbox');
    }
    expect(wrong).toBe(6000);
  });

  it('has at most sixty words, options included, and four options', () => {
    let longest = 0;
    for (const { text, options } of questions) {
      longest = Math.max(longest, text.split(/\s+/).length);
      expect(Object.keys(options)).toEqual(LETTERS);
      expect(new Set(Object.values(options)).size).toBe(4);
      for (const option of Object.values(options)) expect(option.split(/\s+/).length).toBeLessThan(13);
    }
    expect(longest).toBeLessThanOrEqual(60);
    expect(longest).toBeGreaterThan(30);
  });

  it('can be answered from its own text', () => {
    let judged = 0;
    for (const { text, about, options, answer } of questions) {
      const [stem = ''] = text.split('\n');
      const isTrue = readStem(about, stem);
      if (isTrue === undefined) continue;
      for (const [letter, option] of Object.entries(options)) {
        judged++;
        expect(answer.includes(letter), `${stem} ${option}`).toBe(isTrue(option.replace(/\.$/, '')));
      }
    }
    expect(judged).toBeGreaterThan(8000);
  });
});

/** Reads the facts of a stem back and judges an option by them. */
function readStem(about: string, stem: string): ((option: string) => boolean) | undefined {
  const budgets = [...stem.matchAll(/(\w+) planned (\d+), spent (\d+)/g)];
  const tickets = [...stem.matchAll(/(\d+) \(([^)]+)\) (not begun|under way|finished)/g)];
  const deploys = [...stem.matchAll(/([\d.]+\d) (staging|production) (succeeded|rolled back|failed)/g)];
  if (about === 'budgets') {
    const said = budgets.flatMap(([, project, planned, spent]) => [
      `${project} spent ${spent}`,
      `${project} is ${Number(spent) > Number(planned) ? 'over' : 'within'} plan`,
    ]);
    return (option) => said.includes(option);
  }
  if (about === 'due') {
    const due = [...stem.matchAll(/(\d+) (\d+ [A-Z]\w+ \d{4}), (\d+) h/g)];
    const [one, two] = due.map(([, , date]) => Date.parse(`${date} UTC`));
    const first = due[0]?.[1] ?? '';
    const said = due.flatMap(([, number, date, hours]) => [
      `${number} is due ${date}`,
      `${number} takes ${hours} h`,
    ]);
    const isFirst = one !== undefined && two !== undefined && one < two;
    return (option) => [...said, `${first} ${isFirst ? 'comes' : 'does not come'} first`].includes(option);
  }
  if (about === 'tickets') {
    const said = tickets.flatMap(([, number, owner, state]) => [
      `${owner} has ${number}`,
      `${number} is ${state}`,
    ]);
    return (option) => said.includes(option);
  }
  if (about === 'deploys') {
    const said = deploys.flatMap(([, version, place, outcome]) => [
      `${version} went to ${place}`,
      `${version} ${outcome}`,
    ]);
    return (option) => said.includes(option);
  }
  return undefined;
}
