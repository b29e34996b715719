import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { SAMPLE_PLAN } from '../../../lab/suites/workdays/rules/create-rule-set.ts';
import { DRAWN_FORMS } from '../../../lab/suites/workdays/rules/drawn-forms.ts';
import { HOUSE_RULES } from '../../../lab/suites/workdays/rules/house-rules.ts';
import { OTHER_RULES } from '../../../lab/suites/workdays/rules/other-rules.ts';
import type { RuleSet } from '../../../lab/suites/workdays/rules/rule-set.ts';
import { createRandom } from '../../../src/base/random.ts';
import { fiveGramsOf, reportSetValues, sharedFiveGrams } from './leaks.ts';

/** Everything that a set's people say in reports, for one task. */
const toldBy = ({ rules }: RuleSet): readonly string[] =>
  rules.flatMap((rule) =>
    Array.from({ length: 40 }, (_, at) => rule.tell(SAMPLE_PLAN, 'report', createRandom(`leak/${at}`))),
  );

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
  it('no five words in a row are in two splits of the wordings of a form', () => {
    for (const { name, wordings } of DRAWN_FORMS) {
      expect(sharedFiveGrams(wordings.gate, wordings.report), name).toEqual([]);
      expect(sharedFiveGrams(wordings.train, [...wordings.gate, ...wordings.report]), name).toEqual([]);
    }
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
    expect(knownOf(DRAWN_FORMS.flatMap(({ wordings }) => [...wordings.gate, ...wordings.report]))).toEqual(
      [],
    );
    expect(knownOf([HOUSE_RULES, OTHER_RULES].flatMap(toldBy))).toEqual(KNOWN_TO_TESTS.wordings);
    const known = reportSetValues().filter(
      (value) => /[^a-z ]/.test(value) && value.length > 3 && files.some((text) => text.includes(value)),
    );
    expect(known.toSorted()).toEqual(KNOWN_TO_TESTS.values);
  });
});
