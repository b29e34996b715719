/** Marks that models exchange for each other when they copy. */
const ALIKE = [`'‘’‚‛′`, `"“”„‟«»″`, '-‐‑‒–—―−'];
/** Invisible characters do not survive a copy. Bounded, so that a text full of them costs no more than another. */
const INVISIBLE = '\\p{Default_Ignorable_Code_Point}{0,2}';
const WORD = '[\\p{Ll}\\p{Lu}\\p{Lt}\\p{N}]';

/**
 * Finds what a model copied in the text that it copied from: white space, quotation marks, dashes, ellipses and invisible characters may
 * differ; with any other difference it is no quotation. Whole words: "no" is not in "node". Undefined for a copy without a word.
 */
export function copiedPattern(copied: string): RegExp | undefined {
  const words = copied
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replaceAll('…', '...')
    .split(/\s+/)
    .filter((word) => word !== '');
  if (!/[\p{L}\p{N}]/u.test(words.join(''))) return undefined;
  const pattern = words
    .map((word) => Array.from(word, patternOf).join(''))
    .join(`${INVISIBLE}\\s+${INVISIBLE}`)
    .replaceAll('\\.\\.\\.', '(?:\\.\\.\\.|…)');
  return new RegExp(`(?<!${WORD}(?=${WORD}))${pattern}(?!(?<=${WORD})${WORD})`, 'u');
}

function patternOf(character: string): string {
  const marks = ALIKE.find((some) => some.includes(character));
  if (marks !== undefined) return `[${marks.replace('-', '\\-')}]`;
  const escaped = character.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&');
  // What shows a sign as a picture is invisible itself.
  return /[^ -~]|[\d#*]/.test(character) ? `${escaped}${INVISIBLE}` : escaped;
}
