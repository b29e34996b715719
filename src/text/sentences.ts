/*
 * Two splitters, since their texts differ: normalized text of any language, and system prompts, where a full stop is often part
 * of a name.
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
