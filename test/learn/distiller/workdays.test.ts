import { describe, expect, it } from 'vitest';
import { HOUSE_RULES } from '../../../lab/workdays/rules/house-rules.ts';
import { OTHER_RULES } from '../../../lab/workdays/rules/other-rules.ts';
import { createWorkdays } from '../../../lab/workdays/workdays.ts';
import { createRandom } from '../../../src/base/random.ts';
import { setOf } from '../../lessons/library/samples.ts';
import { libraryWith } from '../evolver/samples.ts';
import { hear, toldOf } from './distill.ts';

const BATCH = 6;

/** The feedback for an agent that gets every question of 14 days wrong. */
function* failuresOf(suite: ReturnType<typeof createWorkdays>) {
  const random = createRandom('wrong answers');
  let number = 0;
  for (const { questions } of suite.days)
    for (const question of questions) {
      number++;
      if (question.kind === 'files') {
        const reasons = number % 2 === 0 ? ['task: I saw no "due" in plans/a.json, I had said Friday'] : [];
        const broken = question.rules;
        if (broken.length + reasons.length > 0)
          yield toldOf(
            number,
            question.feedback({ status: 'ok', passed: false, broken, reasons }),
            question.text,
          );
        continue;
      }
      const letters = Object.keys(question.options);
      const chosen = letters.filter(() => random.below(2) === 0);
      if (chosen.length > 0 && chosen.join() !== question.answer.join())
        yield toldOf(number, question.feedback(chosen), question.text);
    }
}

describe.each([
  ['train', 'full', HOUSE_RULES],
  ['gate', 'short', HOUSE_RULES],
  ['gate', 'full', OTHER_RULES],
  ['train', 'short', OTHER_RULES],
] as const)('fourteen days of mistakes (%s, %s form)', (split, form, rules) => {
  it('teach each rule once or twice and nothing else', async () => {
    const suite = createWorkdays({ seed: 1, split, form, rules });
    const library = await libraryWith();
    const failures = [...failuresOf(suite)];
    let known = 0;
    for (let at = 0; at < failures.length; at += BATCH) {
      const heard = await hear(failures.slice(at, at + BATCH), library);
      known += heard.known.length;
      const changes = heard.proposals.map(({ change }) => change);
      if (changes.length > 0) await library.publish(setOf(`c${at}`, changes));
    }
    const lessons = library.lessons();
    const teachersOf = (rule: (typeof suite.rules)[number]) =>
      lessons.filter(({ text }) => rule.isTaughtBy(`${text.description}\n${text.content}`));
    expect(failures.length).toBeGreaterThan(400);
    expect(known).toBeGreaterThan(100);
    for (const rule of suite.rules) {
      expect(teachersOf(rule).length).toBeGreaterThanOrEqual(1);
      expect(teachersOf(rule).length).toBeLessThanOrEqual(2);
    }
    const junk = lessons.filter((lesson) => !suite.rules.some((rule) => teachersOf(rule).includes(lesson)));
    expect(junk.map(({ text }) => text.name)).toEqual([]);
    expect(Math.max(...lessons.map(({ revision }) => revision - 1))).toBeLessThanOrEqual(3);
  });
});
