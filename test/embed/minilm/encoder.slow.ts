import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadMiniLm } from '../../../src/embed/minilm/encoder.ts';

interface Reference {
  readonly text: string;
  /** The exact model's vector by an independent engine (candle, fp16 weights), rounded to bytes, in base64. */
  readonly vector: string;
}

const references = JSON.parse(
  readFileSync(path.join(import.meta.dirname, 'reference-vectors.json'), 'utf8'),
) as readonly Reference[];
const texts = references.map(({ text }) => text);
const miniLm = await loadMiniLm();

const dot = (a: ArrayLike<number>, b: ArrayLike<number>): number => {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
};
const cosine = (a: ArrayLike<number>, b: ArrayLike<number>): number =>
  dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));

describe('MiniLM', () => {
  it('agrees with an independent engine on the exact weights', () => {
    const vectors = texts.map(miniLm.embed);
    const cosines = references.map(({ vector }, index) =>
      cosine(new Int8Array(Buffer.from(vector, 'base64')), vectors[index] ?? []),
    );
    expect(cosines).toHaveLength(20);
    expect(Math.min(...cosines)).toBeGreaterThan(0.99);
    expect(cosines.reduce((sum, value) => sum + value) / cosines.length).toBeGreaterThan(0.998);
  });

  it('gives unit vectors of 384 numbers, for an empty text too', () => {
    for (const vector of [...texts.slice(0, 4), '', '\u0000', '[PAD]'].map(miniLm.embed)) {
      expect(vector).toHaveLength(miniLm.dimensions);
      expect(dot(vector, vector)).toBeCloseTo(1, 6);
    }
  });

  it('gives a text the same vector each time, whatever came before it (bit for bit)', () => {
    const few = texts.slice(0, 8);
    const forwards = few.map(miniLm.embed);
    const backwards = few.toReversed().map(miniLm.embed).toReversed();
    expect(backwards).toEqual(forwards);
  });

  it('returns copies: a later text does not change an earlier vector', () => {
    const first = miniLm.embed('hello');
    const copy = first.slice();
    miniLm.embed('something else');
    expect(first).toEqual(copy);
  });

  it('reads the first 256 tokens of a long text and no more', () => {
    const long = 'word '.repeat(254);
    expect(miniLm.embed(`${long} and another end`)).toEqual(miniLm.embed(long));
  });

  it('puts similar sentences nearer than unrelated ones, without a shared word', () => {
    const [cat, kitten, proxy] = [
      'The cat sat on the mat.',
      'A kitten was resting upon a rug.',
      'How do I configure my network settings?',
    ].map(miniLm.embed);
    expect(cosine(cat ?? [], kitten ?? [])).toBeGreaterThan(cosine(cat ?? [], proxy ?? []) + 0.3);
  });
});
