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
    const turns = new Set(quotes.map(({ turn }) => turn));
    const learned = library
      .lessons()
      .filter(({ text }) => text.evidence.turns.some((turn) => turns.has(turn)));
    if (!learned.some(({ state }) => OVER.has(state))) return quotes;
    return quotes.flatMap((quote) => cut(quote, learned));
  };

function cut(quote: Recollection, learned: readonly Lesson[]): readonly Recollection[] {
  const own = learned.filter(({ text }) => text.evidence.turns.includes(quote.turn));
  const isGone = (sentence: string): boolean => {
    const quoting = own.filter(({ text }) => `${text.description}\n${text.content}`.includes(sentence));
    return quoting.length > 0 && quoting.every(({ state }) => OVER.has(state));
  };
  const sentences = quote.text.split(SENTENCE_END);
  const left = sentences.map((sentence) => (sentence !== GAP && isGone(sentence) ? GAP : sentence));
  if (left.every((sentence, nth) => sentence === sentences[nth])) return [quote];
  const text = left.filter((sentence, nth) => sentence !== GAP || left[nth - 1] !== GAP).join(' ');
  return /\p{L}/u.test(text) ? [{ ...quote, text }] : [];
}
