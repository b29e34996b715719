import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { SAMPLE_PLAN } from '../../../lab/suites/workdays/rules/create-rule-set.ts';
import { drawRuleOf, formsOf, valuesIn } from '../../../lab/suites/workdays/rules/draw-rules.ts';
import { HOUSE_RULES } from '../../../lab/suites/workdays/rules/house-rules.ts';
import { openRules } from '../../../lab/suites/workdays/rules/open-rules.ts';
import { OTHER_RULES } from '../../../lab/suites/workdays/rules/other-rules.ts';
import type { RuleSet } from '../../../lab/suites/workdays/rules/rule-set.ts';
import { SPLITS, type Split } from '../../../lab/suites/workdays/world.ts';
import { createRandom } from '../../../src/base/random.ts';
import { fiveGramsOf, reportSetValues, sharedFiveGrams } from './leaks.ts';

const FORMS = [...formsOf('seen'), ...formsOf('unseen-forms')];
const SETS = readdirSync('lab/suites/workdays/rules/sets').map((file) =>
  openRules(`lab/suites/workdays/rules/sets/${file}`),
);

/** Everything that a set's people say, for one task. */
const toldBy = ({ rules }: RuleSet, splits: readonly Split[]): readonly string[] =>
  rules.flatMap((rule) =>
    splits.flatMap((split) =>
      Array.from({ length: 40 }, (_, at) => rule.tell(SAMPLE_PLAN, split, createRandom(`leak/${at}`))),
    ),
  );

/** What people say in reports: gate and report wordings of all forms, and all wordings of sets that are reported on. */
const REPORTED: readonly string[] = [
  ...FORMS.flatMap(({ wordings }) => [...wordings.gate, ...wordings.report]),
  ...[HOUSE_RULES, OTHER_RULES, ...SETS].flatMap((set) => toldBy(set, SPLITS)),
];
/** What pre-training is told: train wordings of the forms that it sees. */
const TRAINED: readonly string[] = formsOf('seen').flatMap(({ wordings }) => wordings.train);

/** The learner was made with the house rules in view: what its tests have of them. A report on these two sets has to say so. */
const KNOWN_TO_TESTS = {
  wordings: [
    'yyyy mm ddthh mm ss',
    'mm ddthh mm ss 08',
    'ddthh mm ss 08 00',
    'put the unit behind every',
    'the unit behind every amount',
  ],
  values: ['+08:00', '.bak', 'OPS-', 'created_at', 'snake_case'],
};

describe('nothing that is reported on is known beforehand', () => {
  it('no five words in a row are in a wording for pre-training and in one for reports', () => {
    expect(sharedFiveGrams(TRAINED, REPORTED)).toEqual([]);
  });

  it('no five words in a row are in the gate and the report wordings of a form', () => {
    for (const { name, wordings } of FORMS)
      expect(sharedFiveGrams(wordings.gate, wordings.report), name).toEqual([]);
  });

  it('no seen rule has a value of a reported set in it', () => {
    const drawn = new Set(
      formsOf('seen').flatMap((form) =>
        Array.from({ length: 300 }, (_, seed) =>
          valuesIn(drawRuleOf(form, 'seen', `leak/${seed}`).parameters),
        ).flat(),
      ),
    );
    expect(drawn.size).toBeGreaterThan(2000);
    expect(reportSetValues().filter((value) => drawn.has(value))).toEqual([]);
  });

  it('the tests of the learner have no wording of a report and, of the values, only these', () => {
    const files = ['test/learn', 'test/lessons'].flatMap((folder) =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => readFileSync(path.join(entry.parentPath, entry.name), 'utf8')),
    );
    expect(files.length).toBeGreaterThan(50);
    const grams = new Set(files.flatMap(fiveGramsOf));
    const knownOf = (told: readonly string[]) =>
      [...new Set(told.flatMap(fiveGramsOf))].filter((gram) => grams.has(gram));
    const told = [
      ...FORMS.flatMap(({ wordings }) => [...wordings.gate, ...wordings.report]),
      ...SETS.flatMap((set) => toldBy(set, SPLITS)),
    ];
    expect(knownOf(told)).toEqual([]);
    expect(knownOf([HOUSE_RULES, OTHER_RULES].flatMap((set) => toldBy(set, ['report'])))).toEqual(
      KNOWN_TO_TESTS.wordings,
    );
    const known = reportSetValues().filter(
      (value) => /[^a-z ]/.test(value) && value.length > 3 && files.some((text) => text.includes(value)),
    );
    expect(known.toSorted()).toEqual(KNOWN_TO_TESTS.values);
  });
});
