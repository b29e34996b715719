import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

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

const pages = ['reference/commands.md', 'start.md', 'faq.md', 'lessons.md', 'practice.md'].filter((name) =>
  readdirSync(path.join(root, 'docs'), { recursive: true }).map(String).includes(name),
);

it.each(pages)('docs/%s uses the words of people, not the names of the code', (name) => {
  const text = readFileSync(path.join(root, 'docs', name), 'utf8').replaceAll('models.evolver', '');
  const found = CODE_WORDS.flatMap(([word, instead]) => {
    // The log names the part that writes it.
    const line = text.split('\n').find((one) => word.test(one) && !one.includes('learner='));
    return line === undefined ? [] : [`${instead}: ${line.trim().slice(0, 120)}`];
  });
  expect(found).toEqual([]);
});
