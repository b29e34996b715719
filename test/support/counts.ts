import { it } from 'vitest';

/** `npm run test:slow` sets it, and runs every test file that imports this one. */
const isFull = process.env.FULL_COUNTS === '1';

/** How often a test tries what it claims: a few times in `npm test`, the full count in `npm run test:slow`. */
export const countOf = (few: number, full: number): number => (isFull ? full : few);

/** A test of `npm run test:slow` beside those of the same file that `npm test` runs. */
export const itInFull = (title: string, test: () => Promise<void> | void): void =>
  isFull ? it(title, test) : it.skip(title, test);

/** The same for a property: `npm test` tries the same few cases each time, `npm run test:slow` draws new ones. */
export const runsOf = (few: number, full: number): { readonly numRuns: number; readonly seed?: number } =>
  isFull ? { numRuns: full } : { numRuns: few, seed: 20_261_118 };
