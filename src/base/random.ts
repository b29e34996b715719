import { hash } from 'node:crypto';

/** Rounds that the generator's author asks for, so that similar seeds give unrelated streams. */
const WARM_UP = 15;

/**
 * sfc32 ("small fast counting", Chris Doty-Humphrey): 128 bits of state, of which 32 count, so that no cycle is shorter
 * than 2^32; it passes PractRand. Numbers at least 0 and less than 1, with 53 random bits, the same for the same state on
 * every machine. Not for secrets.
 */
export function createSfc32(first: number, second: number, third: number): () => number {
  let a = first | 0;
  let b = second | 0;
  let c = third | 0;
  let counter = 1;
  const next32 = (): number => {
    const out = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + out) | 0;
    return out >>> 0;
  };
  for (let round = 0; round < WARM_UP; round++) next32();
  return () => ((next32() >>> 5) * 2 ** 26 + (next32() >>> 6)) / 2 ** 53;
}

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
