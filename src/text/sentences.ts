/*
 * Three splitters, since their texts differ: normalized text of any language, system prompts, where a full stop is often part of a name,
 * and what people write.
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

export const SENTENCE_END = /[.!?…]["')\]»”]{0,3}(?=\s|$)|[。！？]|\n/gu;
const ABBREVIATION =
  /(?:^|[\s(])(?:mr|ms|mrs|dr|prof|e\.g|i\.e|z\.\s?b|etc|vs|cf|bzw|approx|incl|p\. ?ex)\.$/i;

/** Whether the text ends with an abbreviation, whose full stop ends no sentence. */
export const endsWithAbbreviation = (text: string): boolean => ABBREVIATION.test(text.slice(-8));

/** The sentences of a text that a person wrote, in order, as they are. */
export function sentencesOf(text: string): readonly string[] {
  const sentences: string[] = [];
  let from = 0;
  for (const match of text.matchAll(SENTENCE_END)) {
    const to = match.index + match[0].length;
    if (endsWithAbbreviation(text.slice(from, to))) continue;
    sentences.push(text.slice(from, to).trim());
    from = to;
  }
  return [...sentences, text.slice(from).trim()].filter((sentence) => sentence !== '');
}
