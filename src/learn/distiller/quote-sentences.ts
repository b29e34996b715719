import { endsWithAbbreviation, SENTENCE_END, sentencesOf } from '../../text/sentences.ts';
import { type Matter, readMatter } from './matter.ts';

/** The leading sentences that fit. A sentence that is too long alone is cut at a word and marked so. */
export function cutQuote(text: string, most: number): string {
  if (text.length <= most) return text;
  let end = 0;
  for (const match of text.slice(0, most).matchAll(SENTENCE_END)) {
    const to = match.index + match[0].length;
    if (!endsWithAbbreviation(text.slice(0, to))) end = to;
  }
  if (end > 0) return text.slice(0, end).trim();
  const word = text.slice(0, most - 2).replace(/\s\S{0,80}$/, '');
  return `${word.trimEnd()} …`;
}

/** The matters of the sentences of a quote that have one. */
export function mattersOf(quote: string): readonly Matter[] {
  const matters = sentencesOf(quote)
    .map(readMatter)
    .filter(({ terms }) => terms.size > 0);
  return matters.length === 0 ? [readMatter(quote)] : matters;
}
