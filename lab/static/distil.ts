import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { toBytes } from '../../src/base/little-endian.ts';
import { loadMiniLm, loadMiniLmVocabulary } from '../../src/embed/minilm/encoder.ts';
import { createWordPieces } from '../../src/embed/minilm/wordpiece.ts';
import { createMulberry32 } from '../measure/recall/synthetic.ts';
import { encodeTable } from './encode-table.ts';
import { solve } from './solve.ts';

/**
 * Makes the static table (models/static) from all-MiniLM-L6-v2 and sentences, a line each: a vector for each word piece, so that the
 * direction of their sum is that of the sentence. Begins with each piece alone through the model, weighted by its rarity and turned
 * to fit the sentences (ridge regression), then follows the gradient, then rounds to 4 bits.
 *
 *     node build/lab/static/distil.js --corpus FILE [--most 40000] [--out models/static]
 *
 * The model's vectors are kept in .cache/static: about 10 ms a sentence, once.
 */
const { values: options } = parseArgs({
  options: {
    corpus: { type: 'string', default: '.cache/static/corpus.txt' },
    most: { type: 'string', default: '40000' },
    out: { type: 'string', default: 'models/static' },
  },
});

const CACHE = '.cache/static';
const SIZE = 384;
const PIECES = 64;
/** Of each hundred sentences these are not learned from. */
const HELD_OUT = 5;
const RARITY = 1e-3;
const RIDGE = 1e-4;
const [EPOCHS, RATE, STILL] = [8, 0.02, 1e-6];

/** S sentences, P pieces, 384 numbers each. */
interface Lesson {
  readonly pieces_P: Float32Array;
  readonly sentences_S: Float32Array;
  readonly ids_S: readonly Int32Array[];
  /** Those from here on are held out. */
  readonly learned: number;
}

async function vectorsOf(name: string, texts: readonly string[]): Promise<Float32Array> {
  mkdirSync(CACHE, { recursive: true });
  const file = path.join(CACHE, `${name}.f32`);
  const done = existsSync(file) ? Math.floor(readFileSync(file).length / (4 * SIZE)) : 0;
  if (done < texts.length) {
    const model = await loadMiniLm(128);
    const out = openSync(file, done === 0 ? 'w' : 'a');
    for (const text of texts.slice(done)) writeSync(out, toBytes(model.embed(text)));
    closeSync(out);
  }
  const bytes = readFileSync(file);
  return new Float32Array(bytes.buffer, bytes.byteOffset, texts.length * SIZE);
}

const rowOf = (table: Float32Array, row: number): Float32Array =>
  table.subarray(row * SIZE, (row + 1) * SIZE);

function sumOf(table: Float32Array, ids: Int32Array): Float32Array {
  const sum = new Float32Array(SIZE);
  for (const id of ids)
    for (let at = 0; at < SIZE; at++) sum[at] = (sum[at] ?? 0) + (table[id * SIZE + at] ?? 0);
  return sum;
}

const dot = (a: Float32Array, b: Float32Array): number =>
  a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);
const lengthOf = (vector: Float32Array): number => Math.sqrt(dot(vector, vector)) || 1;

/** The mean cosine to the model for what was not learned from. */
function heldOutCosine(table: Float32Array, { ids_S, sentences_S, learned }: Lesson): number {
  let total = 0;
  for (let s = learned; s < ids_S.length; s++) {
    const sum = sumOf(table, ids_S[s] ?? new Int32Array());
    total += dot(sum, rowOf(sentences_S, s)) / lengthOf(sum);
  }
  return total / (ids_S.length - learned);
}

/** How often each piece stands in the sentences. */
function countPieces(ids_S: readonly Int32Array[], size: number): Float64Array {
  const counts = new Float64Array(size);
  for (const ids of ids_S) for (const id of ids) counts[id] = (counts[id] ?? 0) + 1;
  return counts;
}

/** Pieces alone, without what they have in common, each by its rarity, turned by the matrix that fits the sentences best. */
function beginTable(lesson: Lesson, counts: Float64Array): Float32Array {
  const { pieces_P, sentences_S, ids_S, learned } = lesson;
  const all = counts.reduce((sum, count) => sum + count, 0);
  const mean = new Float64Array(SIZE);
  for (const [at, value] of pieces_P.entries())
    mean[at % SIZE] = (mean[at % SIZE] ?? 0) + value / (pieces_P.length / SIZE);
  const begin = pieces_P.map((value, at) => {
    const share = ((counts[Math.floor(at / SIZE)] ?? 0) + 0.5) / all;
    return ((value - (mean[at % SIZE] ?? 0)) * RARITY) / (RARITY + share);
  });
  const squares = Array.from({ length: SIZE }, () => new Float64Array(SIZE));
  const products = Array.from({ length: SIZE }, () => new Float64Array(SIZE));
  for (let s = 0; s < learned; s++) {
    const sum = sumOf(begin, ids_S[s] ?? new Int32Array());
    const size = lengthOf(sum);
    const wanted = rowOf(sentences_S, s);
    for (let i = 0; i < SIZE; i++) {
      const value = (sum[i] ?? 0) / size;
      const [square, product] = [squares[i], products[i]];
      if (square === undefined || product === undefined) continue;
      for (let j = 0; j < SIZE; j++) {
        square[j] = (square[j] ?? 0) + (value * (sum[j] ?? 0)) / size;
        product[j] = (product[j] ?? 0) + value * (wanted[j] ?? 0);
      }
    }
  }
  for (const [i, square] of squares.entries()) square[i] = (square[i] ?? 0) + learned * RIDGE;
  const turn = solve(squares, products);
  const table = new Float32Array(begin.length);
  for (let row = 0; row < counts.length; row++)
    for (let i = 0; i < SIZE; i++) {
      const value = begin[row * SIZE + i] ?? 0;
      const direction = turn[i] ?? new Float64Array(SIZE);
      for (let j = 0; j < SIZE; j++)
        table[row * SIZE + j] = (table[row * SIZE + j] ?? 0) + value * (direction[j] ?? 0);
    }
  return table;
}

/** Adagrad on 1 - cosine, one sentence at a time. */
function followGradient(table: Float32Array, lesson: Lesson): void {
  const { sentences_S, ids_S, learned } = lesson;
  const random = createMulberry32(11);
  const seen = new Float32Array(table.length);
  const order = Array.from({ length: learned }, (_, s) => s);
  for (let epoch = 0; epoch < EPOCHS; epoch++) {
    for (let at = learned - 1; at > 0; at--) {
      const other = Math.floor(random() * (at + 1));
      [order[at], order[other]] = [order[other] ?? 0, order[at] ?? 0];
    }
    const rate = RATE * (1 - epoch / EPOCHS);
    for (const s of order) {
      const ids = ids_S[s] ?? new Int32Array();
      const sum = sumOf(table, ids);
      const size = lengthOf(sum);
      const wanted = rowOf(sentences_S, s);
      const cosine = dot(sum, wanted) / size;
      const step = Math.sqrt(ids.length) / size;
      const slope = sum.map((value, at) => ((cosine * value) / size - (wanted[at] ?? 0)) * step);
      for (const id of ids)
        for (let at = 0; at < SIZE; at++) {
          const cell = id * SIZE + at;
          const change = slope[at] ?? 0;
          const past = (seen[cell] ?? 0) + change * change;
          seen[cell] = past;
          table[cell] = (table[cell] ?? 0) - (rate * change) / Math.sqrt(past + STILL);
        }
    }
    process.stdout.write(`epoch ${epoch + 1}: ${heldOutCosine(table, lesson).toFixed(4)}\n`);
  }
}

/** The mean length of a row that is used is 1, so that a step of the gradient is small beside it. */
function rescale(table: Float32Array, counts: Float64Array): void {
  let [sum, all] = [0, 0];
  for (const [row, count] of counts.entries()) {
    sum += count * lengthOf(rowOf(table, row));
    all += count;
  }
  for (let at = 0; at < table.length; at++) table[at] = (table[at] ?? 0) / (sum / all);
}

const vocabulary = [...(await loadMiniLmVocabulary())].sort(([, a], [, b]) => a - b).map(([piece]) => piece);
const texts = readFileSync(options.corpus, 'utf8').split('\n').filter(Boolean).slice(0, Number(options.most));
const piecesOf = createWordPieces(new Map(vocabulary.map((piece, id) => [piece, id])), {
  removesAccents: true,
  readsSpecialTokens: false,
});
const lesson: Lesson = {
  pieces_P: await vectorsOf(
    'pieces',
    vocabulary.map((piece) => piece.replace(/^##(?=.)/, '')),
  ),
  sentences_S: await vectorsOf('sentences', texts),
  ids_S: texts.map((text) => Int32Array.from(piecesOf(text, PIECES).slice(0, PIECES))),
  learned: Math.floor((texts.length * (100 - HELD_OUT)) / 100),
};
const counts = countPieces(lesson.ids_S.slice(0, lesson.learned), vocabulary.length);
const table = beginTable(lesson, counts);
process.stdout.write(
  `${texts.length} sentences; regression alone: ${heldOutCosine(table, lesson).toFixed(4)}\n`,
);
rescale(table, counts);
followGradient(table, lesson);
mkdirSync(options.out, { recursive: true });
const { bytes, rounded } = encodeTable(table, SIZE);
writeFileSync(path.join(options.out, 'weights.safetensors'), bytes);
process.stdout.write(`${bytes.length} bytes; in 4 bits: ${heldOutCosine(rounded, lesson).toFixed(4)}\n`);
