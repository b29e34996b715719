/*
 * Three splitters, since their texts differ: normalized text of any language, feedback that quotes code and examples, and
 * system prompts, where a full stop is often part of a name.
 */

const ENDS_IN_ANY_LANGUAGE = /(?<=[.!?])["')\]]*\s+|[。！？；]|;\s|\n+/u;

/** Sentences and lines of text in any language and without capitals: ends at `.!?;` before a blank, at CJK marks and at line breaks. */
export const splitFoldedSentences = (folded: string): readonly string[] =>
  folded
    .split(ENDS_IN_ANY_LANGUAGE)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '');

/** `e.g.` and `i.e.` end no sentence. */
const BEFORE_CAPITAL = /(?<!\b(?:e\.g|i\.e|etc|vs)[.!?])(?<=[.!?]["')\]]?)\s+(?=["'([*]{0,3}\p{Lu})/u;

/** Sentences of edited English prose in one line: a sentence ends only where a capital letter follows. */
export const splitSentencesBeforeCapital = (line: string): readonly string[] => line.split(BEFORE_CAPITAL);

const CLOSERS: Readonly<Record<string, string>> = {
  '"': '"',
  '`': '`',
  '“': '”',
  '«': '»',
  '(': ')',
  '[': ']',
};
const LONGEST_QUOTATION = 300;
const ABBREVIATION =
  /(?:^|[\s(])(?:e\.g|i\.e|eg|ie|etc|vs|cf|approx|resp|incl|excl|no|nr|fig|sec|max|min|\p{L}|\d{1,3})\.$/iu;

/** Sentences that end at `.!?;` before a blank, except inside quotations, code and brackets, and after abbreviations. */
export function splitSentencesOutsideQuotes(text: string): readonly string[] {
  const sentences: string[] = [];
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const closer = CLOSERS[text[at] ?? ''];
    if (closer !== undefined) {
      const end = text.indexOf(closer, at + 1);
      if (end > 0 && end - at < LONGEST_QUOTATION) at = end;
      continue;
    }
    const isEnd = /[.!?;]/.test(text[at] ?? '') && /\s/.test(text[at + 1] ?? ' ');
    if (!isEnd || ABBREVIATION.test(text.slice(Math.max(from, at - 8), at + 1))) continue;
    sentences.push(text.slice(from, at + 1).trim());
    from = at + 1;
  }
  return [...sentences, text.slice(from).trim()].filter((sentence) => sentence !== '');
}
