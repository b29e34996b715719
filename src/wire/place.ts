import type { Insertion } from '../core/wire.ts';
import { quoteText } from './quote-text.ts';
import { OPEN_BRACKET, QUOTE, type Span, skipSpace } from './scan.ts';

/** Whether there is nothing between a span's brackets. */
const isEmpty = (bytes: Buffer, [start, end]: Span): boolean => skipSpace(bytes, start + 1) === end - 1;

/** `item` is JSON text: an element, or a member with its key. */
export const prependItem = (bytes: Buffer, span: Span, item: string): Insertion => ({
  at: span[0] + 1,
  text: isEmpty(bytes, span) ? item : `${item},`,
});

/**
 * Appends a block to a value that contains text: at the end of a string, or as one more element, `part`, of an array.
 * Undefined when the value is neither.
 */
export function appendText(bytes: Buffer, span: Span, block: string, part: string): Insertion | undefined {
  const [start, end] = span;
  if (bytes[start] === QUOTE) {
    return { at: end - 1, text: `\\n\\n${quoteText(block).slice(1, -1)}` };
  }
  if (bytes[start] === OPEN_BRACKET) {
    return { at: end - 1, text: isEmpty(bytes, span) ? part : `,${part}` };
  }
  return undefined;
}
