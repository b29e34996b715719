import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { OLD_NAMES } from '../../src/cli/old-names.ts';

const root = path.resolve(import.meta.dirname, '../..');

/** Names that only the code has, with what people read in their place. */
const CODE_WORDS: readonly (readonly [word: RegExp, instead: string])[] = [
  [/\bdistiller\b/i, 'Instar'],
  [/(?<!models\.)(?<!["`'])\bevolver\b/i, 'the writer'],
  [/\boverlays?\b/i, 'change'],
  [/\bsleep hours\b/i, 'quiet hours'],
  [/\bpass(?:es)? through\b/i, 'each client uses its own key'],
  [/\breasons of our own\b/i, 'the reason'],
  [/\bis present\b/i, 'you are active'],
];

const pages = [
  'reference/commands.md',
  'start.md',
  'faq.md',
  'lessons.md',
  'practice.md',
  'first-hour.md',
].filter((name) => readdirSync(path.join(root, 'docs'), { recursive: true }).map(String).includes(name));

it.each(pages)('docs/%s uses the words of people, not the names of the code', (name) => {
  const text = readFileSync(path.join(root, 'docs', name), 'utf8');
  const found = CODE_WORDS.flatMap(([word, instead]) => {
    const line = text.split('\n').find((one) => word.test(one));
    return line === undefined ? [] : [`${instead}: ${line.trim().slice(0, 120)}`];
  });
  expect(found).toEqual([]);
});

it('the page keeps and drops lessons, as the command line does', () => {
  const sources = readdirSync(path.join(root, 'web/src'), { recursive: true }).map(String);
  const said = sources
    .filter((name) => /\.tsx?$/.test(name))
    .flatMap((name) => readFileSync(path.join(root, 'web/src', name), 'utf8').split('\n'))
    .filter((line) => /[>'"`]\s*(?:Approve|Reject|Retire)|^\s+(?:Approve|Reject|Retire)d?\b/.test(line));
  expect(said.map((line) => line.trim())).toEqual([]);
});

it('no page, message or unit names a command by a name of the last release', () => {
  const old = new RegExp(`instar (?:${Object.keys(OLD_NAMES).join('|')})\\b(?! ready)`);
  const named = ['src', 'train', 'team', 'web/src', 'plugins', 'deploy', 'docs/start.md', 'README.md']
    .flatMap((place) => filesBelow(path.join(root, place)))
    .flatMap((file) => readFileSync(file, 'utf8').split('\n'))
    .filter((line) => old.test(line));
  expect(named).toEqual([]);
});

const filesBelow = (place: string): readonly string[] =>
  place.endsWith('.md')
    ? [place]
    : readdirSync(place, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'))
        .map((entry) => path.join(entry.parentPath, entry.name));
