import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PlannedQuestion } from '../../../../lab/suites/workdays/files/make-file-questions.ts';
import { lettersIn, shortVocabulary } from '../../../../lab/suites/workdays/files/short-tasks.ts';
import { FAMILY_NAMES, GIVEN_NAMES, PROJECTS } from '../../../../lab/suites/workdays/make-world/pools.ts';
import { HOUSE_RULES } from '../../../../lab/suites/workdays/rules/house-rules.ts';
import { OTHER_RULES } from '../../../../lab/suites/workdays/rules/other-rules.ts';
import { createWorkdays } from '../../../../lab/suites/workdays/workdays.ts';
import { SPLITS } from '../../../../lab/suites/workdays/world.ts';
import { createRandom } from '../../../../src/base/random.ts';
import { NANO_SHAPE } from '../../../../train/nano/model/decoder-weights.ts';
import { createNanoTokenizer } from '../../../../train/nano/policy/tokenizer.ts';
import {
  createVocabulary,
  FIRST_FIGURE,
  FIRST_NIBBLE,
  MARK,
  readVocabulary,
} from '../../../../train/nano/policy/vocabulary.ts';
import { shippedTokenizer, shippedVocabulary } from './parts.ts';

const tokenizer = shippedTokenizer();
const ALPHABET = [...'abcdefghijklmnopqrstuvwxyz'];
const bare = createNanoTokenizer(createVocabulary({ starts: ALPHABET, insides: ALPHABET, signs: [' '] }));
const isByte = (token: number): boolean => token >= FIRST_NIBBLE && token < FIRST_FIGURE;

describe('the tokenizer', () => {
  it.each(SPLITS)(
    'round-trips every question, command and lesson of %s, and encodes none of them in bytes',
    (split) => {
      let texts = 0;
      const wrong: string[] = [];
      for (const rules of [HOUSE_RULES, OTHER_RULES]) {
        const { days } = createWorkdays({ seed: 5, split, rules });
        for (const question of days.flatMap(({ questions }) => questions)) {
          const said = [question.text];
          if (question.kind === 'files') {
            const { plan, solve } = question as PlannedQuestion;
            const random = createRandom(question.id);
            said.push(solve(new Set(question.rules)).join('\n'), solve(new Set()).join('\n'));
            said.push(...rules.rules.map((rule) => rule.tell(plan, split, random)));
          }
          for (const text of said) {
            const tokens = tokenizer.encode(text);
            if (tokenizer.decode(tokens) !== text) wrong.push(text);
            // Checksums have single letters between their figures.
            if (!/[0-9a-f]{12}/.test(text) && tokens.some(isByte)) wrong.push(text);
            texts++;
          }
        }
      }
      expect(wrong).toEqual([]);
      expect(texts).toBeGreaterThan(2_500);
    },
  );

  it('round-trips any text with any vocabulary', () => {
    let seen = 0;
    const any = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc.string({ unit: fc.constantFrom(...'aBT t19 \n_-.é漢"\u0301'), maxLength: 60 }),
      fc
        .array(
          fc.constantFrom(
            'Done',
            'DONE',
            'camelCase',
            'sha256sum',
            't1201',
            '26T14:05',
            ' ',
            '  ',
            '42',
            'x9y',
            'A',
            'aB',
          ),
        )
        .map((words) => words.join('')),
    );
    fc.assert(
      fc.property(any, (text) => {
        // A lone surrogate has no UTF-8.
        const sound = Buffer.from(text).toString();
        for (const each of [tokenizer, bare]) {
          const tokens = each.encode(text);
          expect(each.decode(tokens)).toBe(sound);
          expect(tokens.every((token) => token >= MARK.capital && token < each.size)).toBe(true);
        }
        seen++;
      }),
      { numRuns: 500 },
    );
    expect(seen).toBe(500);
  });

  it('decodes any tokens without throwing', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -1, max: 900 })), (tokens) => {
        expect(typeof tokenizer.decode(tokens)).toBe('string');
      }),
    );
  });

  it('has as many tokens as the model, and no names of the suite', () => {
    const { size, starts, insides } = shippedVocabulary();
    expect(size).toBe(NANO_SHAPE.vocabulary);
    const names = [...GIVEN_NAMES, ...FAMILY_NAMES, ...PROJECTS].map((name) => name.toLowerCase());
    expect(names.filter((name) => name.length > 3 && (starts.has(name) || insides.has(name)))).toEqual([]);
  });

  it('encodes a word of the suite in few pieces, of every split', () => {
    const words = shortVocabulary().flatMap(lettersIn);
    const lengths = words.map((word) => tokenizer.encode(word).length);
    expect(words.length).toBeGreaterThan(200);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(6);
    expect(lengths.reduce((sum, length) => sum + length, 0) / words.length).toBeLessThan(3);
  });

  it('splits figures into pairs, so that a date has the same tokens in every notation', () => {
    const [compact, dashed] = ['20310819', '2031-08-19'].map((text) => tokenizer.encode(text));
    expect(dashed?.filter((token) => compact?.includes(token))).toEqual(compact);
    expect(compact).toHaveLength(4);
  });

  it.each([
    ['{}'],
    ['nothing'],
    ['{"version":1,"starts":[],"insides":[],"signs":[]}'],
    ['{"version":1,"starts":[1]}'],
  ])('rejects %s as a vocabulary', (json) => {
    expect(readVocabulary(json)).toBeUndefined();
  });

  it('rejects a vocabulary without all letters', () => {
    expect(() => createVocabulary({ starts: ['a'], insides: ['a'], signs: [' '] })).toThrow(/letter b/);
  });
});
