import { createSfc32 } from '../../base/random.ts';
import { ngramVector } from '../../embed/ngram-embed.ts';
import { cleanQuery } from '../recall/clean-query.ts';

/** Bits of a sketch. The similarity that two sketches tell is within 0.1 of that of their vectors for two of three pairs. */
const BITS = 256;
const WORD = 32;

/** Each bit is the side of a random plane on which a vector lies. Drawn at the first use, the same in every process. */
let planes: { readonly dimensions: number; readonly signs: Int8Array } | undefined;

function drawPlanes(dimensions: number): Int8Array {
  if (planes?.dimensions === dimensions) return planes.signs;
  const random = createSfc32(0x736b, 0x6574, 0x6368);
  const signs = new Int8Array(BITS * dimensions).map(() => (random() < 0.5 ? -1 : 1));
  planes = { dimensions, signs };
  return signs;
}

/**
 * A request as 256 bits (SimHash over its n-grams): requests with alike words have alike bits. Small enough to be part of a fact,
 * and the words cannot be read from it.
 */
export function sketchOf(text: string): readonly number[] {
  const vector = ngramVector(cleanQuery(text));
  const { length } = vector;
  const signs = drawPlanes(length);
  const words = new Uint32Array(BITS / WORD);
  for (let bit = 0; bit < BITS; bit++) {
    let sum = 0;
    const from = bit * length;
    for (let at = 0; at < length; at++) sum += (vector[at] ?? 0) * (signs[from + at] ?? 0);
    const word = bit >>> 5;
    if (sum > 0) words[word] = ((words[word] ?? 0) | (1 << (bit & 31))) >>> 0;
  }
  return [...words];
}

/** By the number of different bits: their share is the angle between the two vectors. */
const COSINES = Float64Array.from({ length: BITS + 1 }, (_, different) =>
  Math.cos((Math.PI * different) / BITS),
);

/** An estimate of the cosine of the two vectors. 0 for a sketch of another size. */
export function sketchSimilarity(one: Uint32Array, other: Uint32Array): number {
  if (one.length !== BITS / WORD || other.length !== BITS / WORD) return 0;
  let different = 0;
  for (let at = 0; at < BITS / WORD; at++) different += countBits((one[at] ?? 0) ^ (other[at] ?? 0));
  return COSINES[different] ?? 0;
}

function countBits(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
