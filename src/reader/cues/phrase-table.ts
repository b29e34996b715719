import { foldAccents } from '../own-sentences.ts';

/** Up to six words. */
const GAP = '(?: [^ ]{1,24}){0,6}';

/**
 * Phrases of folded text, one or more to a line, divided by `|`, as one expression. `…` stands for up to six words. They match whole
 * words; scripts without blanks between words have none. No upper-case escapes: folding would change them.
 */
export function compilePhrases(table: string, hasBlanks = true): RegExp {
  const source = foldAccents(table)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('|')
    .replaceAll('…', GAP);
  return new RegExp(hasBlanks ? `(?<![\\p{L}\\p{N}_])(?:${source})(?![\\p{L}\\p{N}_])` : source, 'u');
}
