import { createHash } from 'node:crypto';
import { principalOfSession } from '../../core/principal.ts';
import type { EmbeddingModel } from '../../core/recall.ts';
import type { RecollectQuery } from '../../core/recollection.ts';
import { searchTerms } from '../../lessons/recall/bm25-index.ts';
import { foldWords } from '../../reader/own-sentences.ts';
import { pointsBack } from '../memory/write/claim-words.ts';

/** Of one message: who writes more has pasted something. */
const MOST_WORDS = 400;

/** A code for each search term of a text, repeated ones included. Two terms share a code about once in four thousand million pairs. */
export function wordCodes(text: string): Uint32Array {
  const { words, names } = searchTerms(text);
  return Uint32Array.from([...words, ...names].slice(0, MOST_WORDS), codeOf);
}

/** FNV-1a, with its bits mixed once more: neighbouring words would have neighbouring codes. */
function codeOf(word: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < word.length; at++) {
    hash ^= word.charCodeAt(at);
    hash = Math.imul(hash, 0x01000193);
  }
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}

/** Of an answer: its end leads to the message behind it. */
const LONGEST_AROUND = 300;

/** Codes for the words of the agent that a message answers: "It was Matt" says too little by itself. */
export function codesAround(
  answer: readonly { readonly type: string; readonly text?: string }[],
): Uint32Array {
  const text = answer.map((part) => (part.type === 'text' ? (part.text ?? '') : '')).join('\n');
  return wordCodes(text.slice(-LONGEST_AROUND));
}

/** Codes for what a person had said before a message that points back to it: "we moved it to Friday" does not name what. */
export function codesPointedTo(sentences: readonly string[], before: string): Uint32Array {
  const isPointing = before !== '' && sentences.some((sentence) => pointsBack(foldWords(sentence)));
  return wordCodes(isPointing ? before.slice(-LONGEST_AROUND) : '');
}

export const packCodes = ({ buffer, byteOffset, byteLength }: Uint32Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('base64');

export function unpackCodes(packed: string): Uint32Array {
  const bytes = Uint8Array.from(Buffer.from(packed, 'base64'));
  return new Uint32Array(bytes.buffer, 0, bytes.byteLength >> 2);
}

type Asker = Pick<RecollectQuery, 'session' | 'agent' | 'project'>;

/** Whose words these are. What one person said to one agent about one project is nobody else's. */
export const ownerOf = ({ session, agent, project = '' }: Asker): string =>
  createHash('sha256')
    .update([principalOfSession(session) ?? '', agent, project].join('\n'))
    .digest('base64url')
    .slice(0, 12);

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
