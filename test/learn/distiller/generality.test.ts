import { describe, expect, it } from 'vitest';
import { namesOption, reachOf } from '../../../src/learn/distiller/generality.ts';
import { rulesIn } from '../../../src/learn/distiller/rules-in.ts';
import { TOLD_OF_ALL, TOLD_OF_ONE } from './told-of.ts';

const isLearned = (said: string): boolean => rulesIn(said).length > 0;

describe('what is said of all such work', () => {
  it('is told from what is said of one piece, in nearly all of seventy sentences', () => {
    expect(TOLD_OF_ALL.length).toBeGreaterThanOrEqual(35);
    expect(TOLD_OF_ONE.length).toBeGreaterThanOrEqual(35);
    const right = TOLD_OF_ALL.filter(isLearned).length;
    const wrong = TOLD_OF_ONE.filter(isLearned).length;
    expect(right / (right + wrong)).toBeGreaterThanOrEqual(0.95);
    expect(right / TOLD_OF_ALL.length).toBeGreaterThanOrEqual(0.95);
  });

  it.each(TOLD_OF_ONE)('is not this: %s', (said) => expect(rulesIn(said)).toEqual([]));

  it('is kept where both are said, and the rest is dropped', () => {
    const rules = rulesIn(
      'Prices on a label must be in whole cents; they never have a currency sign.\nA is out: there is a sign.\nYou left out D, which can be read in prices.md.\nThere are mistakes in t0412: I saw no total; the vat is 12, not 14.',
    );
    expect(rules.map(({ todo, more }) => [todo, ...more])).toEqual([
      ['Prices on a label must be in whole cents', 'They never have a currency sign'],
    ]);
  });

  it('stays so behind a fact in the same line only when it says so', () => {
    expect(
      rulesIn('C is wrong. From board.md: The owner of the board is new. It is kept in two places.'),
    ).toEqual([]);
    expect(rulesIn('C is wrong. Every board must name its owner.').map(({ todo }) => todo)).toEqual([
      'Every board must name its owner',
    ]);
  });
});

describe('a letter', () => {
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
  ])('is none in: %s', (said) => expect(namesOption(said)).toBe(false));
});

it('a name or a number among many does not make a rule particular', () => {
  for (const said of [
    'Tickets should read OPS-1475, not 1475',
    'The ticket has to be OPS-12: each ticket number gets the prefix OPS-',
    'An amount has to have its unit, so it is "12 hours"',
    'Regions have to be ISO 3166-2 codes',
  ])
    expect(reachOf(said)).toBe('many');
});
