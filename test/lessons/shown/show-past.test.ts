import { describe, expect, it } from 'vitest';
import type { Recollection } from '../../../src/core/recollection.ts';
import { chooseQuotes, isInLessons } from '../../../src/lessons/shown/show-past.ts';

const quote = (text: string, more: Partial<Recollection> = {}): Recollection => ({
  session: 's',
  turn: 't',
  at: 0,
  text,
  times: [],
  relevance: 0.9,
  ...more,
});
const block = '### editor\n_"My editor is Helix."_\n\n- shop: "We sell lamps. They are of glass."';
const textsOf = (found: readonly Recollection[]): readonly string[] =>
  chooseQuotes(found, isInLessons(block)).map(({ text }) => text);

describe('what was said, beside the lessons of a prompt', () => {
  it('does not repeat what a lesson says in the same words: the next one takes its place', () => {
    const others = Array.from({ length: 7 }, (_, nth) => quote(`The lamp ${nth} is green.`));
    expect(textsOf([quote('My editor is Helix.'), ...others])).toEqual(
      others.slice(0, 6).map(({ text }) => text),
    );
  });

  it('repeats it where it says more: a further sentence, or the day that "yesterday" was', () => {
    const further = 'My editor is Helix. I learned it in Oslo.';
    expect(textsOf([quote(further)])).toEqual([further]);
    const times = [{ words: 'yesterday', means: '13 April 2026' }];
    expect(textsOf([quote('My editor is Helix.', { times })])).toEqual(['My editor is Helix.']);
  });

  it('is chosen by how well it fits, and stands in the order in which it was said', () => {
    const long = (at: number): Recollection => quote(`${at} ${'glass '.repeat(200)}`, { at });
    const found = [quote('second', { at: 2 }), long(4), long(5), long(6), quote('first', { at: 1 })];
    expect(chooseQuotes(found, () => false).map(({ at }) => at)).toEqual([1, 2, 4, 5]);
    // The room follows the setting and the model: short ones, and none.
    expect(chooseQuotes(found, () => false, 100).map(({ at }) => at)).toEqual([1, 2]);
    expect(chooseQuotes(found, () => false, 0)).toEqual([]);
  });
});
