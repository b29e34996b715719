import { hash } from 'node:crypto';
import { createSfc32 } from '../core/sfc32.ts';

/** A stream of random numbers that is the same for the same seed, on every machine. Not for secrets. */
export interface Random {
  /** At least 0 and less than 1, with 53 random bits. */
  next(): number;
  /** A whole number, at least 0 and less than `limit`. */
  below(limit: number): number;
}

/** The seed is hashed: `run/1` and `run/2` give unrelated streams. */
export function createRandom(seed: string): Random {
  const bytes = hash('sha256', seed, 'buffer');
  const next = createSfc32(bytes.readInt32LE(0), bytes.readInt32LE(4), bytes.readInt32LE(8));
  return { next, below: (limit) => Math.floor(next() * limit) };
}
