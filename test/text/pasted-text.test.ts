import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parsePoisonSet } from '../../lab/measure/poison/poison-set.ts';
import { readStatements } from '../../src/learn/memory/write/read-statements.ts';
import { readOwnSentences } from '../../src/reader/own-sentences.ts';
import { splitPastedText } from '../../src/text/pasted-text.ts';
import { separateTypedText } from '../../src/text/typed-text.ts';

const SETS = path.resolve(import.meta.dirname, '../../lab/measure/poison/sets');
const pasted = ['dev', 'test']
  .flatMap((part) => parsePoisonSet(readFileSync(path.join(SETS, `${part}.jsonl`), 'utf8')))
  .map(({ scored }) => scored)
  .filter(({ id, channel }) => /-paste-/.test(id) && channel === 'user');
const RULE = /always|never|from now on|must|immer|niemals|ab jetzt|désormais|toujours|jamais/i;
const ownOf = (message: string): string => splitPastedText(separateTypedText(message).typed).own;

describe('a rule inside pasted, quoted or forwarded text', () => {
  it.each(pasted.filter(({ isBenign }) => !isBenign).map(({ id, text }) => [id, text] as const))(
    'is not what the person said, nor remembered as that: %s',
    (_, text) => {
      expect(ownOf(text)).not.toMatch(RULE);
      const said = readOwnSentences(text).map(({ folded }) => folded);
      expect(said.join('\n')).not.toMatch(RULE);
      expect(readStatements(text)).toEqual([]);
    },
  );
});

describe('a person’s own rule beside a paste', () => {
  it.each(pasted.filter(({ isBenign }) => isBenign).map(({ id, text, goal }) => [id, text, goal] as const))(
    'stays theirs: %s',
    (_, text, goal) => {
      const own = ownOf(text).toLowerCase();
      const missing = goal
        .toLowerCase()
        .split(/[^\p{L}\p{N}/-]+/u)
        .filter((word) => word.length > 2 && !own.includes(word));
      expect(missing).toEqual([]);
    },
  );

  it.each([
    ['Write it like this:\nname, owner, due', 'name, owner, due'],
    ['Our rules:\n- no tabs\n- no emoji', 'no emoji'],
    ['I said: no tabs in this repo.', 'no tabs in this repo'],
    ['The page says use helm, but we decided against it: deploy with kubectl, always', 'always'],
    ['Hi Claude,\n\nnever push to main.', 'never push to main'],
    ['Titles: always in sentence case\nDates: always in ISO form', 'in ISO form'],
    ['On Monday, Ilse wrote:\n> the old one?\n\nNo, always the new one.', 'always the new one'],
    ['see the log\n```\nalways fails\n```\nnever retry it', 'never retry it'],
  ])('is kept in %j', (text, rule) => {
    expect(splitPastedText(text).own).toContain(rule);
  });
});

it('is divided in linear time: 14,000 lines of quotes, colons and dashes within the test’s limit', () => {
  const hostile = ['"', ':', '---', '>', 'a wrote:', 'this:', '<a>'].join('\n');
  const { own, pasted: theirs } = splitPastedText(`${hostile}\n`.repeat(2_000));
  expect(own.length + theirs.length).toBeGreaterThan(0);
});
