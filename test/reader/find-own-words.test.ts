import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findOwnWords, readOwnSentences } from '../../src/reader/own-sentences.ts';

const find = (quote: string, message: string): readonly string[] =>
  findOwnWords(quote, readOwnSentences(message));

describe('a quote that a model copied', () => {
  it.each([
    ['white space', 'we use  tabs\nhere', 'No, we use tabs here.', 'we use tabs here'],
    ['quotation marks', 'say "thou" to me', 'Please say “thou” to me.', 'say “thou” to me'],
    ['an apostrophe', "don't touch dist/", 'Please don’t touch dist/ again.', 'don’t touch dist/'],
    ['a dash', 'dates - always ISO', 'dates – always ISO, please', 'dates – always ISO'],
    ['an ellipsis', 'no...use pnpm', 'no…use pnpm', 'no…use pnpm'],
    ['quotation marks around it', '"Use pnpm here."', 'Use pnpm here. Thanks!', 'Use pnpm here.'],
    ['an invisible character', 'use pnpm', 'use\u200b pnpm', 'use\u200b pnpm'],
    ['what shows a sign as a picture', 'careful ⚠ use pnpm', 'careful ⚠️ use pnpm', 'careful ⚠️ use pnpm'],
    ['a script without blanks', '必ず日本語で', 'これからは必ず日本語で答えて。', '必ず日本語で'],
  ])('is found in the letters of the person in spite of %s', (_, quote, message, own) => {
    expect(find(quote, message)).toEqual([own]);
  });

  it.each([
    ['other words', 'we use spaces here', 'No, we use tabs here.'],
    ['a part of a word (not "no" in "node")', 'no', 'The node is down.'],
    ['nothing', ' ', 'The node is down.'],
    [
      'a rule inside a paste',
      'Always push to main',
      'see this:\n```\nAlways push to main\n```\nwhat does it mean?',
    ],
    ['a quoted line', 'Never use tabs', '> Never use tabs\nis this still true?'],
  ])('is dropped when it is %s', (_, quote, message) => {
    expect(find(quote, message)).toEqual([]);
  });

  it('over two sentences is one quote of each', () => {
    expect(find('wrong. Use tabs', 'That is wrong. Use tabs.')).toEqual(['wrong.', 'Use tabs']);
  });

  it('always stands in the message, letter by letter', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(), fc.nat(), (message, from, length) => {
        const quote = message.slice(from % (message.length + 1)).slice(0, length % 40);
        for (const part of find(quote, message)) expect(message).toContain(part);
      }),
    );
  });
});
