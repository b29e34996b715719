/** Scripts without spaces between words: each character counts as a word. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu;
const TOKEN = /[\p{L}\p{N}]+/gu;
/** A long line whose successor begins in lower case was wrapped. */
const WRAPPED = /(?<=[^\n]{50})\n[ \t]*(?=\p{Ll})/gu;

/** The words of a normalized text, in order. */
export const tokensOf = (folded: string): readonly string[] =>
  folded.replace(/'/g, '').replace(UNSPACED, ' $& ').match(TOKEN) ?? [];

/** Joins wrapped lines. For text that still has its capitals. */
export const unwrapped = (text: string): string => text.replace(WRAPPED, ' ');

/** Every run of `length` words. */
export function runsOf(tokens: readonly string[], length: number): ReadonlySet<string> {
  const runs = new Set<string>();
  for (let at = 0; at + length <= tokens.length; at++) runs.add(tokens.slice(at, at + length).join(' '));
  return runs;
}

/** The runs that occur in the words. */
export function runsAmong(
  runs: ReadonlySet<string>,
  tokens: readonly string[],
  length: number,
): ReadonlySet<string> {
  const found = new Set<string>();
  if (runs.size === 0) return found;
  for (let at = 0; at + length <= tokens.length; at++) {
    const run = tokens.slice(at, at + length).join(' ');
    if (runs.has(run)) found.add(run);
  }
  return found;
}
