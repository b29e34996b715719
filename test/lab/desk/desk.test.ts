import { describe, expect, it } from 'vitest';
import { createDesk, deskHouse, gradeDeskReply } from '../../../lab/suites/desk/desk.ts';
import { DESK_FORMS, deskRule, tellRule } from '../../../lab/suites/desk/desk-rules.ts';
import { DESK_FAMILIES, drawDeskTask, fileIn } from '../../../lab/suites/desk/desk-tasks.ts';
import { writeDeskFile } from '../../../lab/suites/desk/write-desk-file.ts';
import { SPLITS } from '../../../lab/suites/workdays/world.ts';
import { createRandom } from '../../../src/base/random.ts';

describe('the desk', () => {
  it.each(DESK_FORMS.map((form) => [form.id, form] as const))(
    '%s: a file that follows it passes, one that does not fails',
    (_, form) => {
      for (const split of SPLITS)
        for (let nth = 0; nth < 12; nth++) {
          const random = createRandom(`${form.id}/${split}/${nth}`);
          const task = drawDeskTask(form.family, split, random);
          const rule = deskRule(form, split, nth);
          const followed = writeDeskFile(task, [rule]);
          expect(gradeDeskReply(followed, task, [rule]), followed).toMatchObject({
            passed: true,
            isDone: true,
          });
          const unaware = writeDeskFile(task, []);
          expect(gradeDeskReply(unaware, task, [rule]), unaware).toMatchObject({
            passed: false,
            isDone: true,
            score: 0.5,
          });
          const rival = deskRule(form, split, nth + 1);
          expect(gradeDeskReply(writeDeskFile(task, [rival]), task, [rule]).passed).toBe(false);
        }
    },
  );

  it('two rules of a family can be followed together', () => {
    for (const family of DESK_FAMILIES) {
      const rules = DESK_FORMS.filter((form) => form.family === family).map((form) =>
        deskRule(form, 'report', 1),
      );
      const task = drawDeskTask(family, 'report', createRandom(family));
      const file = writeDeskFile(task, rules);
      expect(gradeDeskReply(file, task, rules), file).toMatchObject({ passed: true, score: 1 });
    }
  });

  it('reads the file out of a reply with talk around it', () => {
    expect(fileIn('Sure!\n```python\ndef a():\n    pass\n```\nHope this helps.')).toBe('def a():\n    pass');
    expect(fileIn('select 1;\n')).toBe('select 1;');
    expect(fileIn('```\ncut off')).toBe('cut off');
    expect(fileIn('```web: one line```')).toBe('web: one line');
    expect(fileIn('"Add a menu"')).toBe('Add a menu');
  });

  it('says what was broken in words that state the value, and now and then in vague or wrong ones', async () => {
    const suite = createDesk({ seed: 3, split: 'report' });
    let whole = 0;
    let others = 0;
    for (const day of suite.days)
      for (const question of day.questions) {
        if (question.kind !== 'files') continue;
        const said = question.feedback({
          status: 'ok',
          passed: false,
          isDone: true,
          broken: question.rules,
          reasons: [],
        });
        const broken = suite.rules.filter(({ id }) => question.rules.includes(id));
        for (const line of said.split('\n'))
          if (broken.some((rule) => rule.isTaughtBy(line))) whole++;
          else others++;
      }
    expect(whole).toBeGreaterThan(60);
    expect(others).toBeGreaterThan(4);
    expect(others).toBeLessThan(whole / 2);
  });

  it('a house has two rules for each family, and other seeds have other houses', () => {
    const houses = [1, 2, 3, 4].map((seed) =>
      deskHouse(seed, 'report')
        .map(({ id, value }) => `${id} ${value}`)
        .join(),
    );
    expect(new Set(houses).size).toBe(4);
    for (const family of DESK_FAMILIES)
      expect(deskHouse(1, 'report').filter(({ form }) => form.family === family)).toHaveLength(2);
  });

  it('no value and no wording of the training split occurs in reports', () => {
    for (const form of DESK_FORMS) {
      const told = (split: 'train' | 'report') =>
        [0, 1, 2, 3].map((nth) => tellRule(deskRule(form, split, nth), split, nth));
      for (const one of told('train')) expect(told('report')).not.toContain(one);
    }
  });
});
