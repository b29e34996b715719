import { type Matter, readMatter } from './matter.ts';

const SENTENCE_END = /[.!?…]["')\]»”]{0,3}(?=\s|$)|[。！？]|\n/gu;
const ABBREVIATION =
  /(?:^|[\s(])(?:mr|ms|mrs|dr|prof|e\.g|i\.e|z\.\s?b|etc|vs|cf|bzw|approx|incl|p\. ?ex)\.$/i;

/** The leading sentences that fit. A sentence that is too long alone is cut at a word and marked so. */
export function cutQuote(text: string, most: number): string {
  if (text.length <= most) return text;
  let end = 0;
  for (const match of text.slice(0, most).matchAll(SENTENCE_END)) {
    const to = match.index + match[0].length;
    if (!ABBREVIATION.test(text.slice(Math.max(0, to - 8), to))) end = to;
  }
  if (end > 0) return text.slice(0, end).trim();
  const word = text.slice(0, most - 2).replace(/\s\S{0,80}$/, '');
  return `${word.trimEnd()} …`;
}

/** The sentences of a text, in order, as they are. */
export function sentencesOf(text: string): readonly string[] {
  const sentences: string[] = [];
  let from = 0;
  for (const match of text.matchAll(SENTENCE_END)) {
    const to = match.index + match[0].length;
    if (ABBREVIATION.test(text.slice(Math.max(from, to - 8), to))) continue;
    sentences.push(text.slice(from, to).trim());
    from = to;
  }
  return [...sentences, text.slice(from).trim()].filter((sentence) => sentence !== '');
}

/** The matters of the sentences of a quote that have one. */
export function mattersOf(quote: string): readonly Matter[] {
  const matters = sentencesOf(quote)
    .map(readMatter)
    .filter(({ terms }) => terms.size > 0);
  return matters.length === 0 ? [readMatter(quote)] : matters;
}
