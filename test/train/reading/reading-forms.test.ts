import { describe, expect, it } from 'vitest';
import { createRandom } from '../../../src/base/random.ts';
import { placeLessons } from '../../../src/lessons/render-block.ts';
import { FORMS_OF_SET } from '../../../train/reading/draw-tasks.ts';
import { FAMILIES, HELD_OUT_FAMILIES } from '../../../train/reading/families.ts';
import {
  drawFacts,
  goTogether,
  type ReadingFamily,
  type ReadingSplit,
  valuesFor,
  wordingsFor,
} from '../../../train/reading/family.ts';
import type { ReadingForm } from '../../../train/reading/form.ts';
import { fillGaps, type TaskFacts } from '../../../train/reading/gaps.ts';
import {
  type FileGrade,
  gradeFile,
  isRuleMet,
  type ReadingRule,
  writeFile,
} from '../../../train/reading/grade-file.ts';
import { lessonOf, wordsFor } from '../../../train/reading/told-rules.ts';
import { countOf } from '../../support/counts.ts';

const SPLITS: readonly ReadingSplit[] = ['train', 'report'];
/** Facts that a family is tested with: of both splits. */
const factsOf = (family: ReadingFamily): readonly TaskFacts[] =>
  ['a', 'b'].map((seed, at) =>
    drawFacts(family, SPLITS[at % 2] ?? 'train', createRandom(`${family.id}/${seed}`)),
  );
const plainOf = (family: ReadingFamily, facts: TaskFacts): string => fillGaps(family.plain, facts);
const grade = (
  file: string,
  family: ReadingFamily,
  facts: TaskFacts,
  rules: readonly ReadingRule[] = [],
): FileGrade => gradeFile(file, { family, facts, rules, stray: [] });

describe('the tables of the reading stage', () => {
  const forms = FAMILIES.flatMap((family) => family.forms);

  it('have forms with a name of their own, nine values and four wordings that hold the value', () => {
    expect(new Set(forms.map(({ id }) => id)).size).toBe(forms.length);
    const few = forms.filter(
      ({ values, wordings }) =>
        new Set(values).size < 9 || new Set(values).size < values.length || new Set(wordings).size !== 4,
    );
    expect(few.map(({ id }) => id)).toEqual([]);
    const silent = forms.filter(({ wordings }) => wordings.some((wording) => !wording.includes('{v}')));
    expect(silent.map(({ id }) => id)).toEqual([]);
    const mute = FAMILIES.filter(({ requests }) => new Set(requests).size < 4);
    expect(mute.map(({ id }) => id)).toEqual([]);
  });

  it('share no value, wording or request between training and reports, and no sentence between forms', () => {
    for (const form of forms) {
      const [train, report] = SPLITS.map((split) => valuesFor(form.values, split));
      expect(
        train?.filter((value) => report?.includes(value)),
        form.id,
      ).toEqual([]);
      expect(report?.length, form.id).toBeGreaterThan(1);
    }
    for (const sentences of [
      ...forms.map(({ wordings }) => wordings),
      ...FAMILIES.map(({ requests }) => requests),
    ]) {
      const [train, report] = SPLITS.map((split) => wordingsFor(sentences, split));
      expect(train?.filter((sentence) => report?.includes(sentence))).toEqual([]);
    }
    const all = forms.flatMap(({ wordings }) => wordings);
    expect(all.filter((sentence, at) => all.indexOf(sentence) !== at)).toEqual([]);
  });

  it('hold out forms of trained families and whole families, and train on neither', () => {
    const ids = (set: keyof typeof FORMS_OF_SET): ReadonlySet<string> =>
      new Set(FORMS_OF_SET[set].map(({ id }) => id));
    const [trained, unseen, foreign] = [ids('trained'), ids('unseen-forms'), ids('unseen-families')];
    expect([...unseen, ...foreign].filter((id) => trained.has(id))).toEqual([]);
    expect(trained.size + unseen.size + foreign.size).toBe(forms.length);
    // Fewer would leave an interval over forms too wide to tell anything.
    expect(unseen.size).toBeGreaterThanOrEqual(38);
    expect(foreign.size).toBeGreaterThanOrEqual(40);
    expect(FAMILIES.filter(({ id }) => HELD_OUT_FAMILIES.has(id))).toHaveLength(HELD_OUT_FAMILIES.size);
  });

  it('tell the value of a rule in each of its words, wherever lessons stand', () => {
    const lost: string[] = [];
    for (const form of forms)
      for (const value of form.values.slice(0, countOf(1, 3)))
        for (const said of SPLITS.flatMap((split) => wordsFor({ form, value }, split))) {
          const lesson = lessonOf(said, 'Write a file.', createRandom('lesson'));
          for (const place of ['message', 'system'] as const)
            if (!placeLessons(place, [lesson], []).text.includes(value))
              lost.push(`${form.id} ${place}: ${said}`);
        }
    expect([...new Set(lost)]).toEqual([]);
  });
});

/** The first thing that is wrong with a form, in words; nothing for a sound one. */
function faultOf(family: ReadingFamily, form: ReadingForm): string | undefined {
  for (const [at, facts] of factsOf(family).entries())
    for (const value of form.values) {
      const named = `${form.id} ${value}`;
      const plain = plainOf(family, facts);
      const rule = { form, value };
      if (isRuleMet(rule, plain, { family, facts })) return `${named}: met by the plain file\n${plain}`;
      const file = writeFile({ family, facts, rules: [rule] });
      if (file === undefined) return `${named}: not met by its own file\n${followed(rule, plain, facts)}`;
      const other = form.values[(form.values.indexOf(value) + 1 + at) % form.values.length] ?? '';
      const wrong =
        other === value ? undefined : writeFile({ family, facts, rules: [{ form, value: other }] });
      if (wrong !== undefined && isRuleMet(rule, wrong, { family, facts }))
        return `${named}: met by a file with ${other}\n${wrong}`;
    }
  return undefined;
}

const followed = ({ form, value }: ReadingRule, plain: string, facts: TaskFacts): string =>
  form.rule.follow(plain, { ...facts, v: value, ...form.rule.means?.(value, facts) });

describe('a Markdown file', () => {
  it('may have a block of code of its own, bare or in a block of Markdown', () => {
    const readme = FAMILIES.find(({ id }) => id === 'readme');
    if (readme === undefined) throw new Error('no such family');
    const [facts = {}] = factsOf(readme);
    const own = `${plainOf(readme, facts)}\n\n\`\`\`sh\nrun\n\`\`\``;
    for (const reply of [own, `\`\`\`markdown\n${own}\n\`\`\``])
      expect(grade(reply, readme, facts), reply).toMatchObject({ isDone: true });
  });
});

/** A table is what it was until somebody edits it: `npm test` tries one family in eight. */
const tested = FAMILIES.filter((_, at) => at % countOf(8, 1) === 0);

describe.each(tested.map((family) => [family.id, family] as const))('files of the family %s', (_, family) => {
  it('are as asked when they are plain, bare or in one block of code (not in two, and not with an announcement)', () => {
    for (const facts of factsOf(family)) {
      const plain = plainOf(family, facts);
      expect(grade(plain, family, facts), plain).toMatchObject({
        isDone: true,
        isComplete: true,
        reward: 1,
      });
      expect(grade(`Here it is:\n\n\`\`\`\n${plain}\n\`\`\`\nThat is all.`, family, facts).isDone).toBe(true);
      expect(grade(`\`\`\`\n${plain}\n\`\`\`\n\`\`\`\n${plain}\n\`\`\``, family, facts).reward).toBe(0);
      expect(grade(`Here is the file:\n${plain}`, family, facts).reward).toBe(0);
    }
  });

  it('are not as asked when they are about something else', () => {
    const [facts = {}, other = {}] = factsOf(family);
    expect(grade(plainOf(family, other), family, facts).reward).toBe(0);
    expect(grade('I cannot do that.', family, facts).reward).toBe(0);
  });

  it('follow each rule by hand; neither the plain file nor one with another value does', () => {
    expect(family.forms.flatMap((form) => faultOf(family, form) ?? [])).toEqual([]);
  });

  it('follow two rules at once, unless the table keeps them apart', () => {
    const wrong: string[] = [];
    for (const [at, form] of family.forms.entries())
      for (const other of family.forms.slice(at + 1)) {
        const done = factsOf(family).filter(
          (facts, nth) =>
            writeFile({
              family,
              facts,
              rules: [form, other].map((one) => ({ form: one, value: one.values[nth] ?? '' })),
            }) !== undefined,
        );
        if (done.length < factsOf(family).length && goTogether(family, form, other))
          wrong.push(`${form.id}+${other.id}`);
      }
    expect(wrong).toEqual([]);
    const names = family.forms.map(({ id }) => id.slice(family.id.length + 1));
    const apart = family.apart.flatMap((pair) => (pair === '' ? [] : pair.split('+')));
    expect(apart.filter((name) => !names.includes(name))).toEqual([]);
  });
});
