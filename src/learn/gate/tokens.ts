/** Scripts that write words without a space between them: there each character counts. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu;
const TOKEN = /[\p{L}\p{N}]+/gu;
const SENTENCE_END = /(?<=[.!?])["')\]]*\s+|[。！？；]|;\s|\n+/u;
/** A long line that goes on in small letters was broken for its length. */
const WRAPPED = /(?<=[^\n]{50})\n[ \t]*(?=\p{Ll})/gu;

/** The words of a folded text, in order. */
export const tokensOf = (folded: string): readonly string[] =>
  folded.replace(/'/g, '').replace(UNSPACED, ' $& ').match(TOKEN) ?? [];

/** The sentences and lines of a folded text. */
export const sentencesOf = (folded: string): readonly string[] =>
  folded
    .split(SENTENCE_END)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '');

/** The same, with lines that were broken for their length put together. For text that has its capitals. */
export const unwrapped = (text: string): string => text.replace(WRAPPED, ' ');

/** Every run of so many members, joined. */
export function runsOf(tokens: readonly string[], length: number): ReadonlySet<string> {
  const runs = new Set<string>();
  for (let at = 0; at + length <= tokens.length; at++) runs.add(tokens.slice(at, at + length).join(' '));
  return runs;
}

/** Those of the runs that occur in the tokens. */
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
