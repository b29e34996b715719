/** A part of a text that is encoded in one way. A word is in lower case, with its original case in `letters`. */
export type Run =
  | { readonly is: 'word'; readonly text: string; readonly letters: 'small' | 'capital' | 'upper' }
  | { readonly is: 'figure'; readonly text: string }
  | { readonly is: 'signs'; readonly text: string };

const RUN = /[A-Za-z]+|[0-9]+|[^A-Za-z0-9]+/g;
/** Inside a word: `CAMEL`, `Case`, `case`. */
const SPELLING = /[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g;

/**
 * Splits a text into words, figures and signs. A single letter next to a figure (`t1201`, `26T14:05`) counts as a sign, since it
 * belongs to the format of the figure. Lossless: the runs in their original case, concatenated, are the text.
 */
export function runsOf(text: string): readonly Run[] {
  const runs: Run[] = [];
  let signs = '';
  const flush = () => {
    if (signs !== '') runs.push({ is: 'signs', text: signs });
    signs = '';
  };
  for (const { 0: run, index } of text.matchAll(RUN)) {
    const isLone = run.length === 1 && (isFigure(text[index - 1]) || isFigure(text[index + 1]));
    if (isLetter(run[0]) && !isLone) {
      flush();
      for (const [word] of run.matchAll(SPELLING)) runs.push({ is: 'word', ...spellingOf(word) });
    } else if (isFigure(run[0])) {
      flush();
      runs.push({ is: 'figure', text: run });
    } else signs += run;
  }
  flush();
  return runs;
}

function spellingOf(word: string): { text: string; letters: 'small' | 'capital' | 'upper' } {
  const text = word.toLowerCase();
  if (word === text) return { text, letters: 'small' };
  return { text, letters: word.length > 1 && word === word.toUpperCase() ? 'upper' : 'capital' };
}

const isFigure = (letter: string | undefined): boolean =>
  letter !== undefined && letter >= '0' && letter <= '9';
const isLetter = (letter: string | undefined): boolean => letter !== undefined && /^[A-Za-z]$/.test(letter);
