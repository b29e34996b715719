import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Lesson } from '../../../src/core/lesson.ts';
import { createNgramEmbed } from '../../../src/embed/ngram-embed.ts';
import { comparedText } from '../../../src/lessons/similar/compare.ts';
import {
  findContradictions,
  whyContradict,
  whyDoubtful,
} from '../../../src/lessons/similar/contradictions.ts';
import { lessonOf, textOf } from '../effect/sample-lessons.ts';
import { DEV_PAIRS, type LabelledPair, TEST_PAIRS } from './labelled-pairs.ts';

/** Half of the threshold for the sentence model. */
const SPELLING = 0.27;
const embed = createNgramEmbed();

const advice = (id: string, content: string) =>
  lessonOf(id, { text: textOf({ name: id, description: '', content }) });

async function flags(pairs: readonly LabelledPair[]): Promise<readonly boolean[]> {
  return Promise.all(
    pairs.map(async ({ a, b }) => {
      const lessons = [advice('a', a), advice('b', b)];
      const vectors = await embed.embed(lessons.map(comparedText));
      const byId = new Map(lessons.map(({ id }, at) => [id, vectors[at] ?? new Float32Array(0)]));
      return findContradictions(lessons, byId, SPELLING).length > 0;
    }),
  );
}

async function measure(pairs: readonly LabelledPair[]) {
  const flagged = await flags(pairs);
  const count = (isFlagged: boolean, isReal: boolean): number =>
    pairs.filter((pair, at) => flagged[at] === isFlagged && pair.isContradiction === isReal).length;
  const hits = count(true, true);
  return { precision: hits / (hits + count(true, false)), recall: hits / (hits + count(false, true)) };
}

const why = whyContradict;

describe('findContradictions', () => {
  it('finds more than half of the development pairs, and is rarely wrong (170 pairs: precision 0.93, recall 0.61)', async () => {
    const { precision, recall } = await measure(DEV_PAIRS);
    expect(precision).toBeGreaterThan(0.9);
    expect(recall).toBeGreaterThan(0.55);
  });

  /** With all-MiniLM-L6-v2 and its own threshold the numbers are the same. */
  it('misses a third of unseen pairs, and is rarely wrong (46 pairs: precision 0.93, recall 0.64)', async () => {
    const { precision, recall } = await measure(TEST_PAIRS);
    expect(precision).toBeGreaterThan(0.85);
    expect(recall).toBeGreaterThan(0.55);
  });

  it('reports no pair of different topics, inactive lessons or disjoint scopes', () => {
    const one = advice('a', 'Commit the lockfile.');
    const other = advice('b', 'Never commit the lockfile.');
    const near = new Map([
      ['a', new Float32Array([1, 0])],
      ['b', new Float32Array([0.8, 0.6])],
    ]);
    expect(findContradictions([one, other], near)).toHaveLength(1);
    expect(findContradictions([one, other], near, 0.9)).toEqual([]);
    expect(findContradictions([one, { ...other, state: 'retired' }], near)).toEqual([]);
    const elsewhere = (project: string, lesson: Lesson): Lesson => ({
      ...lesson,
      text: { ...lesson.text, scope: { project } },
    });
    expect(findContradictions([elsewhere('x', one), elsewhere('y', other)], near)).toEqual([]);
    expect(findContradictions([elsewhere('x*', one), elsewhere('*y', other)], near)).toHaveLength(1);
    expect(findContradictions([one, other], new Map())).toEqual([]);
  });
});

describe('the reason', () => {
  it('compares the rules that people told, and not the tasks that they told them at', () => {
    const told = (id: string, rule: string, task: string) =>
      lessonOf(id, {
        text: textOf({
          name: id,
          description: `"${rule}"`,
          content: `The user said:\n\n> ${rule}\n\nThe task was:\n\n> ${task}`,
        }),
      });
    const near = new Map([
      ['a', new Float32Array([1, 0])],
      ['b', new Float32Array([1, 0])],
    ]);
    const found = (rule: string) =>
      findContradictions(
        [
          told('a', 'Use ISO dates in shipping reports', 'Export the orders as json'),
          told('b', rule, 'Export the orders as csv'),
        ],
        near,
        0.5,
      );
    expect(found('Sign shipping reports with your name')).toEqual([]);
    expect(found('Never use ISO dates in shipping reports')).toHaveLength(1);
  });

  it('quotes both sides and names the difference', () => {
    expect(why('Be kind. Never commit the lockfile.', 'Commit the lockfile.')).toBe(
      'opposite directions: “Never commit the lockfile” and “Commit the lockfile”',
    );
    expect(why('Set the timeout to 30 seconds', 'Set the timeout to 60 seconds')).toMatch(
      /^different number of second \(30, 60\)/,
    );
    expect(why('Write dates as DD.MM.YYYY', 'Write dates as YYYY-MM-DD')).toMatch(
      /^different date format \(dd\.mm\.yyyy, yyyy-mm-dd\)/,
    );
  });

  it('treats two negations as none, and a prohibition under a condition as an exception', () => {
    expect(why('Never skip the review', 'Do the review')).toBeUndefined();
    expect(why('Do not forget to close the file', 'Close the file')).toBeUndefined();
    expect(why('Never force-push to a shared branch', 'Force-push only to your own branch')).toBeUndefined();
  });

  it('does not depend on the order, and no clause contradicts itself', () => {
    for (const { a, b } of [...DEV_PAIRS, ...TEST_PAIRS]) {
      expect(why(a, b) === undefined).toBe(why(b, a) === undefined);
      for (const clause of [a, b].filter((text) => !/[.,;:]\s/.test(text)))
        expect(why(clause, clause), clause).toBeUndefined();
    }
  });

  it('accepts any text of any length', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        expect(typeof (why(a, b) ?? '')).toBe('string');
      }),
    );
    for (const hostile of [
      'not '.repeat(50_000),
      ', not a'.repeat(20_000),
      '1'.repeat(100_000),
      'a.'.repeat(50_000),
    ])
      expect(typeof (why(hostile, `never ${hostile}`) ?? '')).toBe('string');
  });
});

describe('whyDoubtful', () => {
  it.each([
    ['Send the report about the shop to Anna.', 'Please send the report about the shop to Boris.'],
    ['Deploy the shop from the main branch.', 'Deploy the shop from the staging branch.'],
    ['Use axios for calls to the shop.', 'Use undici for calls to the shop.'],
    [
      'Close stale issues after 30 days without activity.',
      'Close stale issues after 90 days without activity.',
    ],
    [
      'Write the columns of the shop in snake case.',
      'The columns of the shop must be written in camel case.',
    ],
  ])('finds one value in place of another: %s', (a, b) => {
    expect(whyContradict(a, b)).toBeUndefined();
    expect(whyDoubtful(a, b)).toContain('another value');
  });

  it.each([
    ['Set the timeout of the shop as 10 seconds.', 'Set the timeout of the bank as 10 seconds.'],
    ['Send the report about the shop to Anna.', 'Send the invoice of the shop to Anna.'],
    ['Add tests to the login module.', 'Add tests to the payment module.'],
    ['Retry a failed request at most 5 times.', 'Retry a failed request at least once.'],
    ['Write amounts with two decimals.', 'Write amounts with 2 decimals.'],
    ['Set the timeout to 60 seconds.', 'Set the timeout to 1 minute.'],
    ['Write the changelog after a merge.', 'Write the changelog after a release.'],
  ])('doubts nothing that may well hold together: %s', (a, b) => {
    expect(whyDoubtful(a, b)).toBeUndefined();
  });

  it('adds nine true pairs of the labelled ones, and no more than one false one', () => {
    const doubtful = [...DEV_PAIRS, ...TEST_PAIRS].filter(
      ({ a, b }) => whyContradict(a, b) === undefined && whyDoubtful(a, b) !== undefined,
    );
    const right = doubtful.filter(({ isContradiction }) => isContradiction).length;
    expect([right, doubtful.length - right]).toEqual([9, 0]);
  });

  it('sees a word of somebody first, and none: “ask before deleting” and “delete without asking”', () => {
    expect(whyContradict('Ask before deleting files.', 'Delete files without asking.')).toContain('approval');
    expect(
      whyContradict(
        'Ask the team lead before you restart the shop.',
        'You may restart the shop on your own.',
      ),
    ).toContain('approval');
    expect(whyContradict('Ask before deleting files.', 'Never delete files on your own.')).toBeUndefined();
  });
});
