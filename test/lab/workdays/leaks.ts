import { readdirSync, readFileSync } from 'node:fs';
import { valuesIn } from '../../../lab/suites/workdays/rules/draw-rules.ts';

/** All runs of so many words; a gap `{…}` ends a run. */
const runsOf = (text: string, length: number): readonly string[] =>
  text.split(/\{\w+\}/).flatMap((piece) => {
    const words = piece.toLowerCase().match(/[\p{L}\d]+/gu) ?? [];
    return words
      .slice(0, Math.max(0, words.length - length + 1))
      .map((_, at) => words.slice(at, at + length).join(' '));
  });

export const fiveGramsOf = (text: string): readonly string[] => runsOf(text, 5);

/** The runs of five words that both have. */
export function sharedFiveGrams(one: readonly string[], other: readonly string[]): readonly string[] {
  const known = new Set(one.flatMap(fiveGramsOf));
  return [...new Set(other.flatMap(fiveGramsOf))].filter((gram) => known.has(gram));
}

/** The values of the house rules, the other rules and the sets in files, as a rule file has them. */
export function reportSetValues(): readonly string[] {
  const folder = 'lab/suites/workdays/rules';
  const files = readdirSync(`${folder}/sets`).map((file) => readFileSync(`${folder}/sets/${file}`, 'utf8'));
  const fromFiles = files.flatMap((text) =>
    (JSON.parse(text) as { rules: readonly { parameters: unknown }[] }).rules.flatMap(({ parameters }) =>
      valuesIn(parameters),
    ),
  );
  return [...new Set([...HOUSE_VALUES, ...fromFiles])].filter((value) => !EVERYDAY.includes(value));
}

/** Words of the tasks themselves, and values of which there are only two. */
const EVERYDAY = ['done', 'status', ' ', 'front', 'end', 'lower', 'upper'];

/** The values of the rules P1 to P5 and Q1 to Q5. */
const HOUSE_VALUES = [
  ...['YYYY-MM-DDTHH:mm:ss+08:00', '+08:00', 'YYYYMMDD', 'snake_case', 'meta', 'created_at', 'author'],
  ...[
    'pending',
    'in_progress',
    '.bak',
    'done.log',
    '[DONE] <timestamp> | <task id> | <summary>',
    'ascending',
  ],
  ...['OPS-', '_comment', 'Internal - not for customers', 'checksums.txt'],
];
