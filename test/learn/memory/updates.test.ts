import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { replacesWords } from '../../../src/learn/compare-words.ts';

/* Pairs of a person's sentences, the newer one with a word that says that something changes. The half `test` was not read for any rule. */
interface UpdatePair {
  readonly half: 'dev' | 'test';
  readonly older: string;
  readonly newer: string;
  readonly replaces: boolean;
}

const file = path.resolve(import.meta.dirname, '../../../lab/measure/memory/updates.jsonl');
const pairs: readonly UpdatePair[] = readFileSync(file, 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));

describe('words that say that something changes', () => {
  it.each([
    ['dev', 14],
    ['test', 12],
  ] as const)('take back what they are about, and hardly anything else: %s', (half, least) => {
    const own = pairs.filter((pair) => pair.half === half);
    const isReplaced = ({ newer, older }: UpdatePair): boolean => replacesWords(newer, older);
    expect(own).toHaveLength(32);
    expect(own.filter(({ replaces }) => replaces).filter(isReplaced).length).toBeGreaterThanOrEqual(least);
    expect(own.filter(({ replaces }) => !replaces).filter(isReplaced).length).toBeLessThanOrEqual(1);
  });

  it.each([
    ['Our ticket tool is Jira.', 'We use Linear instead of Jira now.'],
    ['Berichte gehen an Frau Kunz.', 'Berichte gehen ab jetzt an Herrn Vogel.'],
    ['Name the branches after tickets.', 'From today on name the branches after dates.'],
  ])('"%s" gives way to "%s"', (older, newer) => {
    expect(replacesWords(newer, older)).toBe(true);
  });

  it.each([
    ['Our ticket tool is Jira.', 'For small bugs we now use notes instead of Jira.'],
    ['Deploy the shop.', 'From now on deploy the blog.'],
    ['Run the linter with the tests.', 'From now on run the linter with the docs.'],
  ])('"%s" holds beside "%s"', (older, newer) => {
    expect(replacesWords(newer, older)).toBe(false);
  });
});
