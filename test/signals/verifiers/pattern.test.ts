import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compilePattern } from '../../../src/signals/verifiers/pattern/compile-pattern.ts';
import { PatternError } from '../../../src/signals/verifiers/pattern/parse-pattern.ts';

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
            // An edge cannot be repeated in Unicode mode.
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

describe('a pattern', () => {
  it("fits where JavaScript's own engine says so", () => {
    fc.assert(
      fc.property(pattern, subject, fc.constantFrom('', 'i', 'm', 's', 'ims'), (source, text, flags) => {
        fc.pre(source.length < 60);
        expect(compilePattern(source, flags).test(text)).toBe(new RegExp(source, `${flags}u`).test(text));
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['(a+)+$', `${'a'.repeat(40_000)}!`],
    ['^(a|a)*$', `${'a'.repeat(40_000)}!`],
    ['^(([a-z])+.)+[A-Z]([a-z])+$', 'a'.repeat(40_000)],
    ['(.*)(.*)(.*)(.*)(.*)x', 'a'.repeat(40_000)],
    ['(a?){30}a{30}', 'a'.repeat(29)],
  ])('%s ends on the text that makes others run for ever', (source, text) => {
    expect(compilePattern(source).test(text)).toBe(false);
  });

  it.each([
    ['(a)\\1', 'refers back'],
    ['(?<x>a)\\k<x>', 'refers back'],
    ['a(?=b)', 'ahead or behind'],
    ['(?<!a)b', 'ahead or behind'],
    ['(a', 'Unterminated group'],
    ['a{400}b{400}', 'too much'],
    ['((((a{9}){9}){9}){9})', 'too much'],
    ['((((((){999}){999}){999}){999}){999})', 'too much'],
    ['(?:){9999999999}', 'too much'],
    ['('.repeat(40) + ')'.repeat(40), '30 deep'],
    ['x'.repeat(2000), 'longer than'],
  ])('%s is refused: %s', (source, why) => {
    expect(() => compilePattern(source)).toThrow(PatternError);
    expect(() => compilePattern(source)).toThrow(why);
  });

  it('knows only the flags i, m and s', () => {
    expect(() => compilePattern('a', 'g')).toThrow('flags');
    expect(() => compilePattern('a', 'ii')).toThrow(PatternError);
  });
});
