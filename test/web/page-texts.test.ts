import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitHidden } from '../../web/src/lib/hidden-characters.ts';
import { parseMarkdown } from '../../web/src/lib/markdown.ts';
import { runsOf } from '../support/counts.ts';

const shown = (text: string): string =>
  splitHidden(text)
    .map((piece) => (typeof piece === 'string' ? piece : `[${piece.code}]`))
    .join('');

describe('text of others', () => {
  it.each([
    ['user\u202Egnp.exe', 'user[U+202E]gnp.exe'],
    ['pass\u200Bword\uFEFF', 'pass[U+200B]word[U+FEFF]'],
    ['\u001b[31mred\u001b[0m', '[ESC[31m]red[ESC[0m]'],
    ['a\r\nb\tc', 'a\nb\tc'],
    ['over\rwritten', 'over[U+000D]written'],
    ['\u{E0041}', '[U+E0041]'],
    ['lone \ud800', 'lone [U+D800]'],
    // A picture of several code points hides nothing; the same joiner between letters does.
    ['👩‍💻 and ❤️', '👩‍💻 and ❤️'],
    ['a\u200Db', 'a[U+200D]b'],
    ['Zażółć العربية 日本語', 'Zażółć العربية 日本語'],
  ])('%j is shown as %j', (text, expected) => {
    expect(shown(text)).toBe(expected);
  });

  it('loses nothing and hides nothing, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const plain = splitHidden(text).filter((piece) => typeof piece === 'string');
        for (const piece of plain)
          expect(piece).not.toMatch(/[\u202A-\u202E\u2066-\u2069]|(?![\n\t])\p{Cc}/u);
        const count = splitHidden(text).reduce(
          (sum, piece) => sum + (typeof piece === 'string' ? piece.length : 0),
          0,
        );
        expect(count).toBeLessThanOrEqual(text.length);
      }),
      runsOf(13, 40),
    );
  });
});

describe('markdown', () => {
  it('knows paragraphs, lists, code, quotes and emphasis, and keeps HTML as text', () => {
    expect(
      parseMarkdown('**a** `b`\n\n1. one\n2. two\n  - deep\n\n```ts\n<b>x</b>\n```\n> said\n# Title'),
    ).toEqual([
      { is: 'paragraph', text: [{ is: 'strong', text: 'a' }, ' ', { is: 'code', text: 'b' }] },
      {
        is: 'list',
        ordered: true,
        items: [
          { depth: 0, text: ['one'] },
          { depth: 0, text: ['two'] },
          { depth: 1, text: ['deep'] },
        ],
      },
      { is: 'code', language: 'ts', text: '<b>x</b>' },
      { is: 'quote', text: ['said'] },
      { is: 'heading', text: ['Title'] },
    ]);
    expect(parseMarkdown('<img src=x onerror=y>')).toEqual([
      { is: 'paragraph', text: ['<img src=x onerror=y>'] },
    ]);
  });

  it('shows a link as its words and its address, never as something to follow', () => {
    expect(parseMarkdown('[click](javascript:run)')).toEqual([
      { is: 'paragraph', text: [{ is: 'link', text: 'click', address: 'javascript:run' }] },
    ]);
  });

  it('keeps every word of snake_case names and of sums such as 2*3*4', () => {
    expect(parseMarkdown('rename customer_no_old, 2*3*4')).toEqual([
      { is: 'paragraph', text: ['rename customer_no_old, 2*3*4'] },
    ]);
  });

  it('ends in time for long texts without an end of their marks', () => {
    const blocks = parseMarkdown(`${'**a '.repeat(20_000)}\n${'`'.repeat(20_000)}\n${'['.repeat(20_000)}`);
    expect(blocks.length).toBeGreaterThan(0);
  });
});
