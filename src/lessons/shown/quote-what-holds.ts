import type { Lesson } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import type { Recollect, Recollection } from '../../core/recollection.ts';

const OVER: ReadonlySet<Lesson['state']> = new Set(['retired', 'rejected']);
const SENTENCE_END = /(?<=[.!?…][\p{Pe}\p{Pf}"']{0,2})\s+|(?<=[。！？])\s*/u;
const GAP = '…';

/**
 * What the asker said, without the sentences that do not hold any more: a lesson that quoted them was replaced by a newer word, or taken
 * back. A quotation of which nothing else is left is left out.
 */
export const withoutWhatEnded =
  (recollect: Recollect, library: Pick<Library, 'lessons'>): Recollect =>
  async (query) => {
    const quotes = await recollect(query);
    if (quotes.length === 0) return quotes;
    const lessons = library.lessons();
    // The same sentence may have been said again since, and hold.
    const isGone = (sentence: string): boolean => {
      const quoting = lessons.filter(({ text }) => says(text, sentence));
      return quoting.length > 0 && quoting.every(({ state }) => OVER.has(state));
    };
    return quotes.flatMap((quote) => cut(quote, isGone));
  };

const says = ({ description, content }: Lesson['text'], sentence: string): boolean =>
  description.includes(sentence) || content.includes(sentence);

function cut(quote: Recollection, isGone: (sentence: string) => boolean): readonly Recollection[] {
  const sentences = quote.text.split(SENTENCE_END);
  const left = sentences.map((sentence) => (sentence !== GAP && isGone(sentence) ? GAP : sentence));
  if (left.every((sentence, nth) => sentence === sentences[nth])) return [quote];
  const text = left.filter((sentence, nth) => sentence !== GAP || left[nth - 1] !== GAP).join(' ');
  return /\p{L}/u.test(text) ? [{ ...quote, text }] : [];
}
