import type { EmbeddingModel } from '../../core/recall.ts';

/** The part of a sentence model that the index needs. */
export type PassageModel = Pick<EmbeddingModel, 'id' | 'dimensions' | 'embed'>;

/** Characters of one passage: about what the sentence model was made for. */
const LONGEST = 300;

/** Sentences that follow each other, a few at a time: what one vector stands for. */
export function passagesOf(sentences: readonly string[]): readonly string[] {
  const passages: string[] = [];
  for (const sentence of sentences) {
    const last = passages.at(-1);
    if (last === undefined || last.length + sentence.length >= LONGEST) passages.push(sentence);
    else passages[passages.length - 1] = `${last} ${sentence}`;
  }
  return passages;
}

const MOST_BYTE = 127;

/** Each scaled so that its largest number fills a byte: only its direction counts. */
export function packVectors(vectors: readonly Float32Array[]): string {
  return Buffer.concat(
    vectors.map((vector) => {
      const largest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1;
      return Buffer.from(Int8Array.from(vector, (value) => Math.round((value / largest) * MOST_BYTE)).buffer);
    }),
  ).toString('base64');
}

/** Unit vectors. */
export function unpackVectors(packed: string, dimensions: number): readonly Float32Array[] {
  const bytes = new Int8Array(Uint8Array.from(Buffer.from(packed, 'base64')).buffer);
  return Array.from({ length: Math.floor(bytes.length / dimensions) }, (_, nth) => {
    const row = Float32Array.from(bytes.subarray(nth * dimensions, (nth + 1) * dimensions));
    const norm = Math.hypot(...row) || 1;
    return row.map((value) => value / norm);
  });
}
