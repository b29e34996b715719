import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeChoices } from '../../../lab/suites/workdays/choices/make-choices.ts';
import { forSplit, numberFor } from '../../../lab/suites/workdays/draw.ts';
import { makeDays } from '../../../lab/suites/workdays/make-world/make-days.ts';
import { SPLITS, type Split } from '../../../lab/suites/workdays/world.ts';
import { nearDuplicates } from './near-duplicates.ts';

/** The same law without any index. */
function plainly(a: readonly string[], b: readonly string[], threshold: number): readonly string[] {
  const triples = (text: string): Set<string> => {
    const words = text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
    if (words.length <= 3) return new Set([words.join(' ')]);
    return new Set(words.slice(2).map((word, at) => `${words[at]} ${words[at + 1]} ${word}`));
  };
  return a.flatMap((one, left) =>
    b.flatMap((two, right) => {
      const [x, y] = [triples(one), triples(two)];
      const shared = [...x].filter((triple) => y.has(triple)).length;
      return shared / (x.size + y.size - shared) >= threshold ? [`${left}/${right}`] : [];
    }),
  );
}

describe('nearDuplicates', () => {
  it('finds exactly the pairs that a comparison of all pairs finds', () => {
    let found = 0;
    const text = fc
      .array(fc.constantFrom('a', 'b', 'c'), { minLength: 2, maxLength: 6 })
      .map((words) => words.join(' '));
    const texts = fc.array(text, { minLength: 2, maxLength: 12 });
    fc.assert(
      fc.property(texts, texts, fc.constantFrom(0.2, 0.5, 0.55, 0.6, 0.8, 1), (a, b, threshold) => {
        const { pairs, compared } = nearDuplicates(a, b, threshold);
        found += pairs.length;
        expect(compared).toBe(a.length * b.length);
        expect(pairs.map((pair) => `${pair.a}/${pair.b}`).toSorted()).toEqual(
          plainly(a, b, threshold).toSorted(),
        );
      }),
      { numRuns: 300 },
    );
    expect(found).toBeGreaterThan(50);
  });

  it('refuses a threshold that every pair would pass', () => {
    expect(() => nearDuplicates([], [], 0)).toThrow(RangeError);
  });
});

describe('splits', () => {
  it('cuts every list and every number line into three parts without overlap', () => {
    const list = Array.from({ length: 100 }, (_, at) => at);
    const parts = SPLITS.map((split) => forSplit(list, split));
    expect(parts.flat().toSorted((a, b) => a - b)).toEqual(list);
    fc.assert(
      fc.property(fc.nat(), fc.nat(), (one, two) => {
        const numbers = SPLITS.map((split) => numberFor(one, split));
        expect(new Set(numbers).size).toBe(3);
        for (const [at, split] of SPLITS.entries()) {
          expect(Math.abs((numbers[at] ?? 0) - one)).toBeLessThan(3);
          for (const other of SPLITS) {
            if (other !== split) expect(numberFor(two, other)).not.toBe(numbers[at]);
          }
        }
      }),
    );
  });

  it('finds a question of one split that was copied into another with two words changed', () => {
    const texts = textsOf('train', 1).slice(0, 60);
    const planted = texts.map((text) => text.replace('the', 'a').replace('of', 'from'));
    const { pairs } = nearDuplicates(texts, [...textsOf('gate', 1), ...planted], 0.7);
    expect(pairs.length).toBeGreaterThanOrEqual(60);
  });
});

const textsOf = (split: Split, seed: number): readonly string[] =>
  makeDays(split, seed).flatMap((facts) =>
    makeChoices({
      facts,
      ids: Array.from({ length: 25 }, (_, at) => `${facts.day.id}-${at}`),
      seed: `${split}/${seed}`,
      asked: new Set(),
    }).map(({ text }) => text),
  );
