import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compilePattern, PatternError } from '../../src/base/linear-regex.ts';
import { runsOf } from '../support/counts.ts';

const atom = fc.constantFrom(
  'a',
  'b',
  'é',
  '.',
  '\\d',
  '\\w',
  '\\s',
  '[ab]',
  '[^a]',
  '[0-9\\]]',
  '\\.',
  '\\b',
  '^',
  '$',
  '😀',
  '\\p{Lu}',
  '\\u{61}',
);
const { pattern } = fc.letrec<{ pattern: string; part: string }>((tie) => ({
  part: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    atom,
    tie('pattern').map((inner) => `(?:${inner})`),
    tie('pattern').map((inner) => `(${inner})`),
  ),
  pattern: fc
    .array(
      fc.array(
        fc
          .tuple(tie('part'), fc.constantFrom('', '', '', '*', '+', '?', '{2}', '{1,2}', '{0,}', '*?'))
          .map(([part, times]) =>
            // An assertion cannot be repeated in Unicode mode.
            /^(?:\^|\$|\\b)$/.test(part) ? part : part + times,
          ),
        { maxLength: 3 },
      ),
      { minLength: 1, maxLength: 3 },
    )
    .map((choices) => choices.map((items) => items.join('')).join('|')),
}));
const subject = fc
  .array(fc.constantFrom('a', 'b', 'A', 'é', '1', ' ', '.', '\n', '😀', ']'), { maxLength: 12 })
  .map((chars) => chars.join(''));

describe('a linear-time pattern', () => {
  it("matches where JavaScript's own engine matches", () => {
    fc.assert(
      fc.property(pattern, subject, fc.constantFrom('', 'i', 'm', 's', 'ims'), (source, text, flags) => {
        fc.pre(source.length < 60);
        expect(compilePattern(source, flags).test(text)).toBe(new RegExp(source, `${flags}u`).test(text));
      }),
      runsOf(330, 1000),
    );
  });

  it.each([
    ['(a+)+$', `${'a'.repeat(40_000)}!`],
    ['^(a|a)*$', `${'a'.repeat(40_000)}!`],
    ['^(([a-z])+.)+[A-Z]([a-z])+$', 'a'.repeat(40_000)],
    ['(.*)(.*)(.*)(.*)(.*)x', 'a'.repeat(40_000)],
    ['(a?){30}a{30}', 'a'.repeat(29)],
  ])('%s ends on a text that makes a backtracking engine run for ever', (source, text) => {
    expect(compilePattern(source).test(text)).toBe(false);
  });

  it.each([
    ['(a)\\1', 'back reference'],
    ['(?<x>a)\\k<x>', 'back reference'],
    ['a(?=b)', '(?='],
    ['(?<!a)b', '(?<!a)b'],
    ['(a', 'Unterminated group'],
    ['[\\b]', 'invalid escape'],
    ['\\p{Script=Greek}', 'Script=Greek'],
    ['a{400}b{400}', 'too large'],
    ['((((a{9}){9}){9}){9})', 'invalid repeat count'],
    ['((((((){999}){999}){999}){999}){999})', 'too large'],
    ['(?:){9999999999}', 'invalid repeat count'],
    ['x'.repeat(2000), 'longer than'],
  ])('%s is refused: %s', (source, why) => {
    expect(() => compilePattern(source)).toThrow(PatternError);
    expect(() => compilePattern(source)).toThrow(why);
  });

  it.each([
    ['^a\\sb$', 'a\u00a0b', ''],
    ['^a[\\s,]b$', 'a\u2003b', ''],
    ['^a\\Sb$', 'a\u00a0b', ''],
    ['^.$', '\r', ''],
    ['^.$', '\u2028', ''],
    ['^.$', '\u2028', 's'],
    ['^[.]$', 'x', ''],
    ['^\\uD83D\\uDE00$', '😀', ''],
  ])('%s reads white space, line ends and surrogate pairs as JavaScript does', (source, text, flags) => {
    expect(compilePattern(source, flags).test(text)).toBe(new RegExp(source, `${flags}u`).test(text));
  });

  it('takes an escaped backslash before a digit as text (not as a back reference)', () => {
    expect(compilePattern('^\\\\1$').test('\\1')).toBe(true);
  });

  it('accepts only the flags i, m and s, each once', () => {
    expect(() => compilePattern('a', 'g')).toThrow('flags');
    expect(() => compilePattern('a', 'ii')).toThrow(PatternError);
  });
});
