import { readFileSync } from 'node:fs';
import { asArray, asObject, asString, parseJson } from '../../src/core/json.ts';
import type { SpanKind } from '../../src/core/reading.ts';
import { readSentences } from '../../src/reader/read-message.ts';
import { requireSome } from '../measure/measured.ts';

/**
 * node build/lab/reader/score-rows.js ROWS.jsonl… : how the product reads labelled messages with their texts (join.ts makes them), phrases and
 * learned reader together, per message. `use: test` and natural rates only, unless the file has none.
 */
const LETTERS: readonly (readonly [string, SpanKind])[] = [
  ['C', 'correction'],
  ['R', 'rule'],
  ['P', 'preference'],
  ['F', 'fact'],
  ['V', 'revocation'],
  ['T', 'thanks'],
  ['A', 'again'],
  ['I', 'outage'],
];

interface Row {
  readonly answer: string;
  readonly sentences: readonly string[];
  readonly letters: readonly string[];
  readonly unsure: readonly string[];
}

const texts = (value: unknown): readonly string[] => asArray(value).map((one) => asString(one) ?? '');

const rows = process.argv.slice(2).flatMap((file) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => asObject(parseJson(line)))
    .filter(({ use, natural, judged }) => use === 'test' && natural === true && judged === undefined)
    .map(
      (row): Row => ({
        answer: asString(row.answer) ?? '',
        sentences: texts(row.sentences),
        letters: texts(row.letters),
        unsure: texts(row.unsure),
      }),
    ),
);
requireSome('labelled message', rows.length);
const read = rows.map((row) => {
  const sentences = readSentences({ message: row.sentences.join('\n'), answer: row.answer });
  return { row, kinds: new Set(sentences.flatMap(({ kinds }) => [...kinds])) };
});
for (const [letter, kind] of LETTERS) {
  // What the annotators did not agree about counts neither way.
  const certain = read.filter(
    ({ row }) => row.letters.join('').includes(letter) || !row.unsure.join('').includes(letter),
  );
  const wanted = certain.filter(({ row }) => row.letters.join('').includes(letter));
  const others = certain.filter(({ row }) => !row.letters.join('').includes(letter));
  const heard = wanted.filter(({ kinds }) => kinds.has(kind)).length;
  const wrong = others.filter(({ kinds }) => kinds.has(kind)).length;
  process.stdout.write(`${kind}: ${heard} of ${wanted.length} heard, ${wrong} of ${others.length} false\n`);
}
