/*
 * Two stemmers for English. Recall and duplicate search compare single terms and rank the results, so `stem` also
 * removes endings that change a word's class. The gate and the distiller compare sets of words against thresholds that were
 * measured with `stemInflection`, which removes inflections only.
 */

const VOWEL = /[aeiouy]/;

/** Endings that change a word's class and not its meaning, with the fewest characters that must remain. */
const ENDINGS: readonly (readonly [ending: string, least: number])[] = [
  ['ness', 4],
  ['ment', 4],
  ['ion', 4],
  ['ing', 3],
  ['ed', 3],
  ['ly', 4],
];

/**
 * Removes plurals, -ing, -ed, -ion, -ment, -ness, -ly and a final -e. In doubt it keeps two forms apart: embeddings find what
 * it misses.
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

/** "running" becomes run, but "calling" becomes call. */
const undouble = (word: string): string => word.replace(/([bdgmnprt])\1$/, '$1');

/** Removes plurals, -ing, -ed and a final -e. */
export function stemInflection(word: string): string {
  if (word.length < 5) return word.length > 3 ? word.replace(/([^su])s$/, '$1') : word;
  const bare = word
    .replace(/ies$/, 'y')
    .replace(/(ss|sh|ch|x)es$/, '$1')
    .replace(/([^su])s$/, '$1');
  const cut = bare.replace(/(?:ing|ed)$/, '');
  const rest = cut.length < 3 ? bare : undouble(cut);
  return rest.length > 4 ? rest.replace(/e$/, '') : rest;
}
