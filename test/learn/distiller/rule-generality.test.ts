import { describe, expect, it } from 'vitest';
import { extractRules } from '../../../src/learn/distiller/extract-rules.ts';
import { generalityOf, namesOption } from '../../../src/learn/distiller/rule-generality.ts';
import { GENERAL_FEEDBACK, SINGLE_CASE_FEEDBACK } from './corpora.ts';

const isLearned = (said: string): boolean => extractRules(said).length > 0;

describe('feedback on all work of a kind', () => {
  it('is distinguished from feedback on a single case in at least 95 % of 70 sentences', () => {
    expect(GENERAL_FEEDBACK.length).toBeGreaterThanOrEqual(35);
    expect(SINGLE_CASE_FEEDBACK.length).toBeGreaterThanOrEqual(35);
    const right = GENERAL_FEEDBACK.filter(isLearned).length;
    const wrong = SINGLE_CASE_FEEDBACK.filter(isLearned).length;
    expect(right / (right + wrong)).toBeGreaterThanOrEqual(0.95);
    expect(right / GENERAL_FEEDBACK.length).toBeGreaterThanOrEqual(0.95);
  });

  it.each(SINGLE_CASE_FEEDBACK)('is not: %s', (said) => expect(extractRules(said)).toEqual([]));

  it('is kept next to feedback on a single case, which is dropped', () => {
    const rules = extractRules(
      'Prices on a label must be in whole cents; they never have a currency sign.\nA is out: there is a sign.\nYou left out D, which can be read in prices.md.\nThere are mistakes in t0412: I saw no total; the vat is 12, not 14.',
    );
    expect(rules.map(({ todo, more }) => [todo, ...more])).toEqual([
      ['Prices on a label must be in whole cents', 'They never have a currency sign'],
    ]);
  });

  it('after a fact in the same line must be explicitly general', () => {
    expect(
      extractRules('C is wrong. From board.md: The owner of the board is new. It is kept in two places.'),
    ).toEqual([]);
    expect(extractRules('C is wrong. Every board must name its owner.').map(({ todo }) => todo)).toEqual([
      'Every board must name its owner',
    ]);
  });
});

describe('a capital letter', () => {
  it.each([
    'A is wrong.',
    'You left out B, see notes.md',
    'Not C.',
    'I would have taken D as well',
    'Only B and E hold',
  ])('is an option in: %s', (said) => expect(namesOption(said)).toBe(true));

  it.each([
    'A file has to end with a newline',
    'Column B must be a date',
    'C code needs a guard',
    'Grade A eggs go on top',
    'Write 5 A, not 5 amps',
  ])('is no option in: %s', (said) => expect(namesOption(said)).toBe(false));
});

it('a name or a number in a general rule does not make it a single case', () => {
  for (const said of [
    'Tickets should read OPS-1475, not 1475',
    'The ticket has to be OPS-12: each ticket number gets the prefix OPS-',
    'An amount has to have its unit, so it is "12 hours"',
    'Regions have to be ISO 3166-2 codes',
  ])
    expect(generalityOf(said)).toBe('many');
});
