import { describe, expect, it } from 'vitest';
import { drawAuxiliaryRule } from '../../../lab/measure/nano/auxiliary/draw-auxiliary.ts';
import { effectsOf, isKeptBack } from '../../../lab/measure/nano/auxiliary/targets.ts';
import type { TaskSteps } from '../../../lab/measure/nano/auxiliary/task-steps.ts';
import { makeDayTasks } from '../../../lab/measure/nano/day-tasks.ts';
import { tellSeenRule } from '../../../lab/measure/nano/seen-rules.ts';
import { expand } from '../../../lab/measure/nano/tell/expand.ts';
import { LETTER_WORDS } from '../../../lab/measure/nano/tell/rule-meaning.ts';
import { misspelt } from '../../../lab/measure/nano/wordings.ts';
import { pick } from '../../../lab/suites/workdays/draw.ts';
import { commandOf } from '../../../lab/suites/workdays/files/draft.ts';
import { makeDays } from '../../../lab/suites/workdays/make-world/make-days.ts';
import { drawRuleOf, formsOf } from '../../../lab/suites/workdays/rules/draw-rules.ts';
import { createRandom } from '../../../src/base/random.ts';

const random = createRandom('tell');
const TASKS = makeDayTasks(pick(random, makeDays('train', 31)), random);
const INVENTED = TASKS.find(({ invented }) => invented !== undefined)?.invented ?? [];
const TELLINGS = 300;
const LONGEST = 190;

describe('the grammar', () => {
  it('takes one alternative of each bracket and one production of each name', () => {
    const grammar = { who: ['Ada', 'the [old|new] clerk'] };
    const said = new Set(
      Array.from({ length: 200 }, () => expand('@who [writes|reads|]{gap}', grammar, random)),
    );
    expect([...said].toSorted()).toEqual(
      ['Ada', 'the new clerk', 'the old clerk']
        .flatMap((who) => [`${who} reads{gap}`, `${who} writes{gap}`, `${who} {gap}`])
        .toSorted(),
    );
  });

  it('refuses a name that it does not have, and a bracket that stays open', () => {
    expect(() => expand('@nobody', {}, random)).toThrow('@nobody');
    expect(() => expand('[a|b', {}, random)).toThrow('bracket');
  });
});

/** Parameters that a telling may put in other words: letters and orders. */
const isInOtherWords = (form: string): boolean => /-case$|sorted/.test(form);

describe('a rule of the suite', () => {
  it.each(formsOf('seen').map((form) => [form.name, form] as const))(
    '%s is told in ever new words, and wholly',
    (name, form) => {
      const rule = drawRuleOf(form, 'seen', 'tell');
      const fitting = TASKS.filter(({ plan }) => rule.appliesTo(plan));
      const { plan } = fitting[0] ?? pick(random, TASKS);
      const words = rule.words(plan);
      const shown = [words.example, words.copy, words.line].filter((one) => one !== undefined && one !== '');
      const texts = Array.from({ length: TELLINGS }, () => tellSeenRule(rule, plan, random, LONGEST).text);
      const letters = Object.values(LETTER_WORDS).flat(2);
      const isWhole = (text: string): boolean =>
        rule.isTaughtBy(text) ||
        shown.some((one) => text.includes(one ?? '')) ||
        (isInOtherWords(name) &&
          (name.includes('sorted') || letters.some((one) => text.toLowerCase().includes(one))));
      expect(texts.filter((text) => !isWhole(text))).toEqual([]);
      expect(
        texts.filter((text) => /\{\w+\}|@\w+ |\[\w+\|/.test(text.replaceAll(words.example ?? '\n', ''))),
      ).toEqual([]);
      // The sentences of the training split and those of our own are few; all others differ.
      expect(new Set(texts).size).toBeGreaterThan(0.8 * TELLINGS);
    },
  );
});

const wordsIn = (text: string): ReadonlySet<string> => new Set(text.toLowerCase().match(/[a-z]{3,}/g));
const commandsOf = ({ steps }: TaskSteps): string => steps.map(commandOf).join('\n');

describe('an invented rule', () => {
  it('says every word that its reply has and its task has not', () => {
    let checked = 0;
    for (let at = 0; at < 3_000; at++) {
      const rule = drawAuxiliaryRule(random, INVENTED);
      const task = pick(random, TASKS);
      const done = rule.apply(task.base);
      if (done === undefined) continue;
      checked++;
      const { text } = rule.tell(task.base, random, LONGEST);
      const known = wordsIn(
        `${task.text} ${commandsOf(task.base)} ${task.plan.summary} ${task.plan.author} append set cp`,
      );
      const said = wordsIn(text);
      const unsaid = [...wordsIn(commandsOf(done))].filter(
        (word) => !known.has(word) && ![...said].some((one) => word.includes(one) || one.includes(word)),
      );
      expect(unsaid, `${rule.form}: ${text}\n${commandsOf(done)}`).toEqual([]);
    }
    expect(checked).toBeGreaterThan(500);
  });

  it('is one of thousands of combinations', () => {
    const forms = new Set(
      Array.from({ length: 30_000 }, () => {
        const rule = drawAuxiliaryRule(random, INVENTED);
        return `${rule.form} ${rule.aspects.join()}`;
      }),
    );
    expect(forms.size).toBeGreaterThan(2_000);
  });

  it('never does to a value what a form does that is kept back, in whatever way it is put together', () => {
    expect(effectsOf('Ada', 'ADA-x')).toEqual(['suffix']);
    expect(effectsOf('Ada', '[ada]')).toEqual(['surround']);
    expect(effectsOf('35', '0035')).toEqual(['pad', 'prefix']);
    expect(effectsOf('heron', 'her')).toEqual(['shorten']);
    expect(effectsOf('Ada', 'Ada/Ada')).toEqual([]);
    expect(isKeptBack('person', 'Ada', 'ADA-x')).toBe(true);
    expect(isKeptBack('person', 'Ada', 'x-Ada')).toBe(false);
    expect(isKeptBack('', 'Ada', 'Ada-x')).toBe(false);
  });
});

describe('a slip of the pen', () => {
  it('changes one plain word and nothing that a reply copies', () => {
    const text = 'Please write every heron like "otter-x" before noon.';
    for (let at = 0; at < 200; at++) {
      const found = misspelt(text, random, new Set(['heron']));
      expect(found).not.toBe('');
      expect(found).toContain('heron');
      expect(found).toContain('"otter-x"');
      expect(found.split(' ').filter((word, place) => word !== text.split(' ')[place])).toHaveLength(
        found === text ? 0 : 1,
      );
    }
  });
});
