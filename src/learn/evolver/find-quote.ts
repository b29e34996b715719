import type { FailureCase } from '../../core/learn.ts';

const SHORTEST = 8;
const LONGEST = 600;

/**
 * The passage that a model quoted, as it was recorded. Models straighten line breaks and spaces when they copy; any
 * other difference makes it their own words, and those prove nothing.
 */
export function findQuote(quoted: string, { task, passages }: FailureCase): string | undefined {
  const words = quoted.split(/\s+/).filter(Boolean);
  const length = words.join(' ').length;
  if (length < SHORTEST || length > LONGEST) return undefined;
  const pattern = new RegExp(words.map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('\\s+'));
  for (const text of [...passages.map((passage) => passage.text), task]) {
    const found = pattern.exec(text)?.[0];
    if (found !== undefined) return found;
  }
  return undefined;
}
