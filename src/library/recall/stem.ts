const VOWEL = /[aeiouy]/;

/** Endings that change a word's job in a sentence and not its meaning, with what must be left of it. */
const ENDINGS: readonly (readonly [ending: string, least: number])[] = [
  ['ness', 4],
  ['ment', 4],
  ['ion', 4],
  ['ing', 3],
  ['ed', 3],
  ['ly', 4],
];

/**
 * A light stemmer for English: plurals, -ing, -ed, -ion, -ment, -ness, -ly and a final -e. It rather leaves two forms apart
 * than makes two words one, since meanings are compared elsewhere.
 */
export function stem(word: string): string {
  if (word.length < 4) return word;
  const bare = singular(word);
  const ending = ENDINGS.find(
    ([suffix, least]) => bare.endsWith(suffix) && bare.length - suffix.length >= least && fits(bare, suffix),
  );
  const rest = ending === undefined ? bare : undouble(bare.slice(0, -ending[0].length));
  return rest.length > 4 && rest.endsWith('e') ? rest.slice(0, -1) : rest;
}

function singular(word: string): string {
  if (word.endsWith('ies') && word.length > 4) return `${word.slice(0, -3)}y`;
  if (/(?:ss|sh|ch|x|z)es$/.test(word)) return word.slice(0, -2);
  if (word.endsWith('s') && !/(?:ss|us|is)$/.test(word)) return word.slice(0, -1);
  return word;
}

/** "string" has no vowel before its -ing, and -ion is an ending only behind t or s. */
function fits(word: string, suffix: string): boolean {
  const rest = word.slice(0, -suffix.length);
  return suffix === 'ion' ? /[ts]$/.test(rest) : VOWEL.test(rest);
}

/** "running" is run, but "calling" is call. */
const undouble = (word: string): string => (/([bdgmnprt])\1$/.test(word) ? word.slice(0, -1) : word);
