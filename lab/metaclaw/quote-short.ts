import { clip } from '../../src/text/truncate.ts';

const LONGEST = 80;

/** A stranger's value in a message: on one line, and cut before it is written out, however large it is. */
export function quoteShort(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  const text = String(value);
  const shown = clip(text, LONGEST);
  return typeof value === 'string' ? JSON.stringify(shown) : shown;
}
