import { createSfc32 } from '../../src/base/random.ts';

/** Random numbers in [0, 1), the same for the same seed on every machine. Not for secrets. */
export type RandomStream = () => number;

/** The finalizer of MurmurHash3: every bit of the input affects every bit of the output. */
const mixBits = (value: number): number => {
  let bits = value | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return bits ^ (bits >>> 16);
};

/** Each `stream` of a seed is an independent sequence. */
export const createRandomStream = (seed: number, stream: number): RandomStream =>
  createSfc32(mixBits(seed), mixBits(Math.floor(seed / 2 ** 32) ^ 0x9e3779b9), mixBits(stream ^ 0x243f6a88));
