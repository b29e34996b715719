import { asArray, isObject } from '../../core/json.ts';
import type { FailureCase, Proposal } from '../../core/learn.ts';

const SHORTEST_QUOTE = 8;
const LONGEST_QUOTE = 600;

/**
 * The recorded passage that a model quoted. Models change line breaks and spaces when they copy; with any other
 * difference it is not a quotation, and proves nothing.
 */
function findQuote(quoted: string, { task, passages }: FailureCase): string | undefined {
  const words = quoted.split(/\s+/).filter(Boolean);
  const length = words.join(' ').length;
  if (length < SHORTEST_QUOTE || length > LONGEST_QUOTE) return undefined;
  const pattern = new RegExp(words.map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('\\s+'));
  for (const text of [...passages.map((passage) => passage.text), task]) {
    const found = pattern.exec(text)?.[0];
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Quotes in a model's reply or a proposal. They are evidence, not the lesson: one of the wrong shape is dropped. */
export const readQuotes = (value: unknown, most: number): Proposal['quotes'] =>
  asArray(value)
    .slice(0, most)
    .flatMap((quote) => {
      if (!isObject(quote)) return [];
      const { turn, text } = quote;
      return typeof turn === 'string' && typeof text === 'string' ? [{ turn, text }] : [];
    });

/** The quotes that were really recorded, as they were recorded. */
export const recordedQuotes = (
  quotes: Proposal['quotes'],
  cases: readonly FailureCase[],
): Proposal['quotes'] =>
  quotes.flatMap(({ turn, text }) => {
    const failure = cases.find((one) => one.turn === turn);
    const found = failure && findQuote(text, failure);
    return found === undefined ? [] : [{ turn, text: found }];
  });
