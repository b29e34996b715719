import { describe, expect, it } from 'vitest';
import { makeSamples } from '../../../lab/measure/nano/samples.ts';
import { SAMPLE_PLAN } from '../../../lab/workdays/rules/create-rule-set.ts';
import { formsOf } from '../../../lab/workdays/rules/draw-rules.ts';
import { HOUSE_RULES } from '../../../lab/workdays/rules/house-rules.ts';
import { openRules } from '../../../lab/workdays/rules/open-rules.ts';
import { OTHER_RULES } from '../../../lab/workdays/rules/other-rules.ts';
import { SPLITS } from '../../../lab/workdays/world.ts';
import { createRandom } from '../../../src/base/random.ts';
import { reportSetValues, runsOf } from './leaks.ts';

const DAYS = 25;

/** All that pre-training shows of some days, names as they are: prompts and replies. */
const TEXTS: readonly string[] = Array.from({ length: DAYS }, (_, day) => [
  ...makeSamples(10_000 + 37 * day, false),
])
  .flat()
  .flatMap(({ lines, task, clean, noisy }) => [
    ...lines.flatMap(({ texts }) => texts),
    task,
    ...[clean, ...noisy].flatMap((reply) =>
      reply.is === 'act' ? reply.commands : reply.is === 'say' ? [reply.text] : [],
    ),
  ]);

const SETS = [
  HOUSE_RULES,
  OTHER_RULES,
  openRules('lab/workdays/rules/sets/bakery.json'),
  openRules('lab/workdays/rules/sets/harbour.json'),
];
const TOLD = [
  ...[...formsOf('seen'), ...formsOf('unseen-forms')].flatMap(({ wordings }) => [
    ...wordings.gate,
    ...wordings.report,
  ]),
  ...SETS.flatMap(({ rules }) =>
    rules.flatMap((rule) =>
      SPLITS.flatMap((split) =>
        Array.from({ length: 40 }, (_, at) => rule.tell(SAMPLE_PLAN, split, createRandom(`leak/${at}`))),
      ),
    ),
  ),
];

/** A value as pre-training would show it: between other signs than its own kind. */
function occursIn(text: string, value: string): boolean {
  for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + 1)) {
    const isInWord = (place: number): boolean =>
      /\w/.test(text.charAt(place - 1)) && /\w/.test(text.charAt(place));
    if (!isInWord(at) && !isInWord(at + value.length)) return true;
  }
  return false;
}

describe('pre-training', () => {
  it('shows no value of a set that is reported on', () => {
    expect(TEXTS.length).toBeGreaterThan(5_000);
    const shown = reportSetValues().filter((value) => TEXTS.some((text) => occursIn(text, value)));
    expect(shown).toEqual([]);
  });

  it('says no seven words in a row of what is reported on, and hardly ever five', () => {
    const shared = (length: number) => {
      const shown = new Set(TEXTS.flatMap((text) => runsOf(text, length)));
      const told = [...new Set(TOLD.flatMap((text) => runsOf(text, length)))];
      return { told: told.length, both: told.filter((run) => shown.has(run)) };
    };
    const [five, seven] = [shared(5), shared(7)];
    expect(seven.told).toBeGreaterThan(500);
    expect(seven.both).toEqual([]);
    // Everyday English: "the name of a new file", "a date or a time".
    expect(five.both.length / five.told, five.both.join('\n')).toBeLessThan(0.02);
  });

  it('never names a form that is kept from it', () => {
    for (const { name } of formsOf('unseen-forms'))
      expect(
        TEXTS.filter((text) => occursIn(text, name)),
        name,
      ).toEqual([]);
  });
});
