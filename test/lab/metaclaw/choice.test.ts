import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readChoice, scoreChoice } from '../../../lab/suites/score-choice.ts';

const six = Object.fromEntries([...'ABCDEF'].map((letter) => [letter, `text of ${letter}`]));
const someOf = fc.subarray([...'ABCDEF']);
const atLeastOne = fc.subarray([...'ABCDEF'], { minLength: 1 });

describe('reading a choice', () => {
  it.each([
    ['\\bbox{A,C}', ['A', 'C']],
    ['\\boxed{A, C}', ['A', 'C']],
    ['so the answer is \\bbox{ b ; d }.', ['B', 'D']],
    ['\\bbox {E}', ['E']],
    ['$\\boxed{\\text{A, C}}$', ['A', 'C']],
    ['\\boxed{\\mathrm{A}, \\mathrm{F}}', ['A', 'F']],
    ['\\bbox{A and C}', ['A', 'C']],
    ['\\bbox{(A), (B)}', ['A', 'B']],
    ['\\bbox{ACE}', ['A', 'C', 'E']],
    ['\\bbox{A,A,a}', ['A']],
    ['first \\bbox{A}, no: \\bbox{B}', ['B']],
    ['\\bbox{A}, as \\bbox{} asks', ['A']],
    ['\\bbox{A} and then \\bbox{B', ['A']],
    ['{{{ \\bbox{D} }}}', ['D']],
  ])('reads %s as %j', (text, chosen) => {
    expect(readChoice(text, six)).toEqual(chosen);
  });

  it.each([
    ['\\bbox{X,Y}', ['X', 'Y']],
    ['\\bbox{A,G}', ['A', 'G']],
    ['\\bbox{none}', ['NONE']],
    ['\\bbox{ace}', ['ACE']],
    ['\\bbox{42}', ['42']],
  ])('keeps a word that is not an option in %s, so that it counts as wrong', (text, chosen) => {
    expect(readChoice(text, six)).toEqual(chosen);
    expect(scoreChoice(chosen, ['A'], six).exact).toBe(false);
  });

  it.each([
    '',
    'A, C',
    'bbox{A}',
    '\\bbox{}',
    '\\bbox{ , }',
    '\\bbox A',
    '\\bbox{A',
    '\\box{A}',
    `\\bbox{${'A,'.repeat(200)}}`,
    `\\bbox${' '.repeat(9)}{A}`,
  ])('finds no answer in %j (not an empty one)', (text) => {
    expect(readChoice(text, six)).toBeUndefined();
  });

  it('reads back every set of options, however it is written', () => {
    let read = 0;
    const separator = fc.constantFrom(',', ', ', ' ', ' and ', ';', '、', ' , ');
    const command = fc.constantFrom('bbox', 'boxed');
    fc.assert(
      fc.property(
        fc.shuffledSubarray([...'ABCDEF'], { minLength: 1 }),
        separator,
        command,
        fc.boolean(),
        fc.string(),
        (letters, mark, name, lower, before) => {
          const inside = lower ? letters.join(mark).toLowerCase() : letters.join(mark);
          expect(readChoice(`${before}\n\\${name}{${inside}}`, six)).toEqual(letters);
          read++;
        },
      ),
    );
    expect(read).toBeGreaterThanOrEqual(100);
  });

  it('never throws, and returns each option once, for any text', () => {
    const piece = fc.constantFrom(
      '\\bbox{',
      '\\boxed{',
      '}',
      '{',
      'A',
      'c',
      ',',
      ' ',
      '\\text',
      'ß',
      '\u{1F600}',
      '\n',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const chosen = readChoice(pieces.join(''), six);
        expect(chosen?.length).not.toBe(0);
        expect(new Set(chosen).size).toBe(chosen?.length ?? 0);
      }),
      { numRuns: 500 },
    );
  });

  it('supports options that are words or in lower case', () => {
    expect(readChoice('\\bbox{Yes}', { yes: '', no: '' })).toEqual(['yes']);
    expect(readChoice('\\bbox{A}', { a: '', b: '' })).toEqual(['a']);
  });

  it('reads past a hundred thousand unclosed boxes', () => {
    expect(readChoice(`\\bbox{B}${'\\bbox{'.repeat(100_000)}`, six)).toEqual(['B']);
  });
});

describe('scoring a choice', () => {
  it.each([
    [['A', 'C'], ['A', 'C'], 1, true],
    [['C', 'A', 'A'], ['A', 'C'], 1, true],
    [['A'], ['A', 'C'], 5 / 6, false],
    [['A', 'C', 'D'], ['A', 'C'], 5 / 6, false],
    [[...'ABCDEF'], ['A'], 1 / 6, false],
    [['B'], ['A'], 4 / 6, false],
    [['A', 'X', 'Y'], ['A'], 4 / 6, false],
    [[...'BCDEF'], ['A'], 0, false],
    [[...'BCDEFXYZ'], ['A'], 0, false],
    [undefined, ['A'], 0, false],
  ] as const)('gives %j for %j the score %d', (chosen, answer, score, exact) => {
    const scored = scoreChoice(chosen, answer, six);
    expect(scored.score).toBeCloseTo(score, 12);
    expect(scored.exact).toBe(exact);
  });

  it('is the share of right decisions, and 1 only for exactly the answer', () => {
    let compared = 0;
    fc.assert(
      fc.property(someOf, atLeastOne, (chosen, answer) => {
        const right = [...'ABCDEF'].filter((letter) => chosen.includes(letter) === answer.includes(letter));
        const { score, exact } = scoreChoice(chosen, answer, six);
        expect(score).toBeCloseTo(right.length / 6, 12);
        expect(score === 1).toBe(exact);
        expect(exact).toBe(right.length === 6);
        compared++;
      }),
    );
    expect(compared).toBeGreaterThanOrEqual(100);
  });

  it('ignores order and repetition, and never rewards a word that is not an option', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray([...'ABCDEF']), atLeastOne, (chosen, answer) => {
        const plain = scoreChoice([...chosen].sort(), answer, six);
        expect(scoreChoice([...chosen, ...chosen], answer, six)).toEqual(plain);
        expect(scoreChoice([...chosen, 'Q'], answer, six).score).toBeLessThanOrEqual(plain.score);
        expect(scoreChoice([...chosen, 'Q'], answer, six).exact).toBe(false);
      }),
    );
  });

  it('scores selecting all with exactly the share of right options', () => {
    fc.assert(
      fc.property(atLeastOne, (answer) => {
        expect(scoreChoice([...'ABCDEF'], answer, six).score).toBeCloseTo(answer.length / 6, 12);
      }),
    );
  });
});
