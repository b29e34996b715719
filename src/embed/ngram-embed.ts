import type { EmbeddingModel } from '../core/recall.ts';

/** Fewer would cause collisions, more would only cost memory. A multiple of 32, as the vector table requires. */
const DIMENSIONS = 512;
const SHORTEST = 3;
const LONGEST = 5;
/** A whole word weighs more than an n-gram of it. */
const WORD_WEIGHT = 1.5;
const MOST_CHARACTERS = 2000;

/**
 * Words and their character n-grams of length 3 to 5, hashed into a vector: no model, no thread, a few microseconds. It
 * compares spelling, not meaning; the fallback while the model loads or when there is none.
 */
export function createNgramEmbed(): EmbeddingModel {
  let isClosed = false;
  return {
    id: `ngram/${DIMENSIONS}`,
    dimensions: DIMENSIONS,
    embed: async (texts) => {
      if (isClosed) throw new Error('the n-gram model is closed');
      return texts.map(ngramVector);
    },
    close: async () => {
      isClosed = true;
    },
  };
}

/** A unit vector, at once. */
export function ngramVector(text: string): Float32Array {
  const vector = new Float32Array(DIMENSIONS);
  for (const [word, count] of wordsOf(text)) {
    const weight = 1 + Math.log(count);
    const marked = `<${word}>`;
    add(vector, hash(marked, 0, marked.length, 1), weight * WORD_WEIGHT);
    for (let length = SHORTEST; length <= LONGEST; length++)
      for (let at = 0; at + length <= marked.length; at++)
        add(vector, hash(marked, at, at + length, 0), weight / (length === SHORTEST ? 2 : 1));
  }
  return normalised(vector);
}

/** Short words are mostly function words: they count only in a text without longer ones. */
function wordsOf(text: string): ReadonlyMap<string, number> {
  const all = new Map<string, number>();
  for (const [word] of text
    .slice(0, MOST_CHARACTERS)
    .toLowerCase()
    .matchAll(/[\p{L}\p{N}]+/gu))
    all.set(word, (all.get(word) ?? 0) + 1);
  const long = new Map([...all].filter(([word]) => word.length > SHORTEST));
  return long.size > 0 ? long : all;
}

/** FNV-1a over UTF-16 units. */
function hash(text: string, from: number, to: number, seed: number): number {
  let value = 0x811c9dc5 ^ seed;
  for (let at = from; at < to; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  value ^= value >>> 15;
  value = Math.imul(value, 0x2c1b3c6d);
  return (value ^ (value >>> 13)) >>> 0;
}

/** The sign comes from the hash too, so that collisions cancel out on average (feature hashing). */
function add(vector: Float32Array, hashed: number, weight: number): void {
  const at = (hashed >>> 1) % DIMENSIONS;
  vector[at] = (vector[at] ?? 0) + ((hashed & 1) === 0 ? weight : -weight);
}

function normalised(vector: Float32Array): Float32Array {
  let sum = 0;
  for (const value of vector) sum += value * value;
  // A text without a word still has a direction, so that every answer is a unit vector.
  if (sum === 0) vector[0] = 1;
  else {
    const length = Math.sqrt(sum);
    for (let at = 0; at < DIMENSIONS; at++) vector[at] = (vector[at] ?? 0) / length;
  }
  return vector;
}
