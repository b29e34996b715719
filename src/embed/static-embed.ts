import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { readFloat32s } from '../base/little-endian.ts';
import { PACKAGE_ROOT } from '../base/package.ts';
import { listTensors } from '../base/safetensors.ts';
import type { EmbeddingModel } from '../core/recall.ts';
import { loadMiniLmVocabulary } from './minilm/encoder.ts';
import { createWordPieces, type WordPieceTokenizer } from './minilm/wordpiece.ts';
import { MINILM } from './minilm-embed.ts';

const WEIGHTS = new URL('models/static/weights.safetensors', PACKAGE_ROOT);
const WEIGHTS_SHA256 = 'f7866cbd12762624bf71ccad7fb5b55cb3c5779797c80292ef4153f12b2188b1';
/** As many pieces as the sentence model reads of a lesson. */
const MOST_PIECES = 128;
const DIMENSIONS = 384;

/** The name of the static table, as the record has it. */
export const STATIC = 'static-minilm/384';
/** Names in the record of what compared texts before there was a table: hashed n-grams. */
const OLD_FAMILY = 'ngram/';

/** Whether a task was compared by a first look alone: the record has the names of engines. */
export const isFirstLook = (engine: string): boolean => engine === STATIC || engine.startsWith(OLD_FAMILY);

/** What looks first where this model looks again. A model of which there is no table looks once. */
export const firstLookFor = (model: EmbeddingModel): EmbeddingModel =>
  model.id === MINILM ? createStaticEmbed() : model;

/** For each piece a row of numbers from -7 to 7, two in a byte with 8 added, and their scale. */
interface StaticTable {
  readonly piecesOf: WordPieceTokenizer;
  readonly rows: Uint8Array;
  readonly scales: Float32Array;
}

/**
 * A first look at what a text says: a vector for each word piece, fitted so that their sum is near to the vector of the sentence
 * model (models/static/CARD.md), with which it may be compared. No thread, a fraction of a millisecond, and blind to the order of
 * words. Loaded at the first text; rejects where the files are not those that were tested.
 */
export function createStaticEmbed(): EmbeddingModel {
  let loading: Promise<StaticTable> | undefined;
  let isClosed = false;
  return {
    id: STATIC,
    dimensions: DIMENSIONS,
    embed: async (texts, most = MOST_PIECES) => {
      if (isClosed) throw new Error('the static table is closed');
      if (texts.length === 0) return [];
      loading ??= loadTable();
      const table = await loading;
      return texts.map((text) => vectorOf(table, text, most));
    },
    close: async () => {
      isClosed = true;
      loading = undefined;
    },
  };
}

async function loadTable(): Promise<StaticTable> {
  const [bytes, vocabulary] = await Promise.all([readFile(WEIGHTS), loadMiniLmVocabulary()]);
  if (createHash('sha256').update(bytes).digest('hex') !== WEIGHTS_SHA256)
    throw new Error(`${WEIGHTS.pathname} is not the tested table (SHA-256 differs)`);
  const { entries, data } = listTensors(bytes);
  const part = (name: string): Uint8Array => {
    const entry = entries.find((one) => one.name === name);
    if (entry === undefined) throw new Error(`${WEIGHTS.pathname} has no ${name}`);
    return data.subarray(entry.from, entry.to);
  };
  return {
    piecesOf: createWordPieces(vocabulary, { removesAccents: true, readsSpecialTokens: false }),
    rows: part('rows'),
    scales: readFloat32s(part('scales')),
  };
}

const ROW_BYTES = DIMENSIONS / 2;
const [LOW, SHIFT] = [15, 8];

/** A unit vector; of a text without a word that any text may have, too. */
function vectorOf({ piecesOf, rows, scales }: StaticTable, text: string, most: number): Float32Array {
  const vector = new Float32Array(DIMENSIONS);
  for (const id of piecesOf(text, most).slice(0, most)) {
    const scale = scales[id] ?? 0;
    for (let at = 0; at < ROW_BYTES; at++) {
      const byte = rows[id * ROW_BYTES + at] ?? 0;
      vector[2 * at] = (vector[2 * at] ?? 0) + scale * ((byte & LOW) - SHIFT);
      vector[2 * at + 1] = (vector[2 * at + 1] ?? 0) + scale * ((byte >> 4) - SHIFT);
    }
  }
  let sum = 0;
  for (const value of vector) sum += value * value;
  const length = Math.sqrt(sum);
  if (length === 0) vector[0] = 1;
  return length === 0 ? vector : vector.map((value) => value / length);
}
