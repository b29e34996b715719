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

/** The values of the house rules and the other rules, as a rule file has them, but for words of the tasks themselves. */
export const reportSetValues = (): readonly string[] =>
  HOUSE_VALUES.filter((value) => !['done', 'status', ' '].includes(value));

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
