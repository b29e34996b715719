import { createSfc32 } from '../core/sfc32.ts';

/** Numbers at least 0 and less than 1, the same for the same seed on every machine. Not for secrets. */
export type Random = () => number;

/** MurmurHash3's last step: every bit of the input moves every bit of the output. */
const scatter = (value: number): number => {
  let bits = value | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return bits ^ (bits >>> 16);
};

/** Each `stream` of a seed is a sequence of its own. */
export const createRandom = (seed: number, stream: number): Random =>
  createSfc32(scatter(seed), scatter(Math.floor(seed / 2 ** 32) ^ 0x9e3779b9), scatter(stream ^ 0x243f6a88));
