import type { Scan } from './scan.ts';

/** From here on a lesson is shown. */
export const THRESHOLD = 0.5;

/** What speaks for a lesson and what does not, in one number: 0 is undecided. */
export function evidenceOf(found: Scan, slot: number): number {
  const words = found.words[slot] ?? 0;
  const meaning = found.meaning?.[slot] ?? 0;
  if (meaning !== 0) return 12 * meaning + 3 * words - 5;
  return 8 * (found.spelling?.[slot] ?? 0) + 4 * words - 3.5;
}

/** Evidence as 0 to 1. */
export const relevanceOf = (evidence: number): number => 1 / (1 + Math.exp(-evidence));
