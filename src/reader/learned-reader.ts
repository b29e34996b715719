import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readFloat16s, readFloat32s } from '../base/little-endian.ts';
import { createLruMap } from '../base/lru-map.ts';
import { PACKAGE_ROOT } from '../base/package.ts';
import { listTensors } from '../base/safetensors.ts';
import { type Arena, createArena } from '../base/wasm/arena.ts';
import type { SpanKind } from '../core/reading.ts';
import { createEncoderPass } from '../embed/minilm/encoder.ts';
import { createMiniLmKernels, HIDDEN, MAX_TOKENS } from '../embed/minilm/kernels.ts';
import { createEncoderLoader } from '../embed/minilm/weights.ts';
import { createWordPieces } from '../embed/minilm/wordpiece.ts';

/** How sure the reader is of each kind, from 0 to 1. */
export type KindScores = Readonly<Record<SpanKind, number>>;

/** The kinds of `sentences`, read together and after the end of the answer before them. */
type ScoreSentences = (sentences: readonly string[], answer: string) => readonly KindScores[];

const WEIGHTS_SHA256 = '6657430abae57465280f8a0ddc9e30af12954c34854c6cc542a47e619c48a3da';
/** In the order of the head's outputs. */
export const SPAN_KINDS: readonly SpanKind[] = [
  'correction',
  'rule',
  'preference',
  'fact',
  'revocation',
  'thanks',
  'again',
  'outage',
  'task',
];
const [UNKNOWN, START, SEPARATOR] = [1, 2, 3];
const ANSWER_CHARACTERS = 600;
const ANSWER_TOKENS = 40;
const SENTENCE_TOKENS = 120;
const MOST_WIDENED = 4_096;

let loaded: ScoreSentences | undefined;

/** The reader that ships with the package (models/reader/CARD.md), loaded at the first call. Blocks: some milliseconds a message. */
export const scoreSentences: ScoreSentences = (sentences, answer) => {
  loaded ??= openReader(fileURLToPath(new URL('models/reader', PACKAGE_ROOT)));
  return loaded(sentences, answer);
};

/** Throws where the files are not those of the tested model. */
function openReader(folder: string): ScoreSentences {
  const names = readFileSync(`${folder}/vocabulary.txt`, 'utf8').trimEnd().split('\n');
  const piecesOf = createWordPieces(new Map(names.map((piece, id) => [piece, id])), {
    removesAccents: false,
    readsSpecialTokens: false,
  });
  const arena = createArena();
  const { table, widen, head, pass } = loadWeights(arena, `${folder}/weights.safetensors`);

  /** The table has few numbers for each piece; they are widened to the encoder's input. People use few words. */
  const widened = createLruMap<number, Float32Array>(MOST_WIDENED);
  const inputOf = (id: number): Float32Array => {
    const known = widened.get(id);
    if (known !== undefined) return known;
    const { rank, values, scales } = table;
    const input = new Float32Array(HIDDEN);
    for (let output = 0; output < HIDDEN; output++) {
      let sum = 0;
      for (let at = 0; at < rank; at++)
        sum += (values[id * rank + at] ?? 0) * (widen[output * rank + at] ?? 0);
      input[output] = sum * (scales[id] ?? 0);
    }
    widened.set(id, input);
    return input;
  };
  const lookUp = (ids: readonly number[]): void => {
    const input = arena.floats(pass.states, ids.length * HIDDEN);
    for (const [row, id] of ids.entries()) input.set(inputOf(id), row * HIDDEN);
  };
  /** The mean of a sentence's states beside the first token's state. */
  const scoresOf = (from: number, to: number): KindScores => {
    const states = arena.floats(pass.states, MAX_TOKENS * HIDDEN);
    const features = new Float64Array(2 * HIDDEN);
    for (let at = 0; at < HIDDEN; at++) {
      let sum = 0;
      for (let row = from; row < to; row++) sum += states[row * HIDDEN + at] ?? 0;
      features[at] = sum / (to - from);
      features[HIDDEN + at] = states[at] ?? 0;
    }
    const of = (kind: number): number => {
      const sum = features.reduce(
        (total, value, at) => total + value * (head.weight[kind * 2 * HIDDEN + at] ?? 0),
        0,
      );
      return 1 / (1 + Math.exp(-sum - (head.bias[kind] ?? 0)));
    };
    return Object.fromEntries(SPAN_KINDS.map((kind, index) => [kind, of(index)])) as KindScores;
  };
  const readWindow = ({ ids, spans }: Window): readonly KindScores[] => {
    lookUp(ids);
    // The answer before the message is read, and asked about nothing.
    pass.run(ids.length, spans[0]?.[0]);
    return spans.map(([from, to]) => scoresOf(from, to));
  };
  return (sentences, answer) => {
    const tail = piecesOf(answer.slice(-ANSWER_CHARACTERS), MAX_TOKENS * 4).slice(-ANSWER_TOKENS);
    const pieces = sentences.map((sentence) => piecesOf(sentence, SENTENCE_TOKENS).slice(0, SENTENCE_TOKENS));
    return windowsOf([START, ...tail, SEPARATOR], pieces).flatMap(readWindow);
  };
}

interface Window {
  readonly ids: readonly number[];
  /** Of each sentence: its first token, and the one behind its separator. */
  readonly spans: readonly (readonly [number, number])[];
}

/** A long message is read in several windows, each behind the end of the answer. */
function windowsOf(head: readonly number[], sentences: readonly (readonly number[])[]): readonly Window[] {
  const windows: { ids: number[]; spans: [number, number][] }[] = [{ ids: [...head], spans: [] }];
  for (const sentence of sentences) {
    const own = sentence.length === 0 ? [UNKNOWN] : sentence;
    let last = windows.at(-1);
    if (last === undefined || last.ids.length + own.length + 1 > MAX_TOKENS) {
      last = { ids: [...head], spans: [] };
      windows.push(last);
    }
    last.spans.push([last.ids.length, last.ids.length + own.length + 1]);
    last.ids.push(...own, SEPARATOR);
  }
  return windows;
}

interface ReaderWeights {
  /** One row per word piece, in 8 bits with a scale. */
  readonly table: { readonly rank: number; readonly values: Int8Array; readonly scales: Float32Array };
  readonly widen: Float32Array;
  readonly head: { readonly weight: Float32Array; readonly bias: Float32Array };
  readonly pass: ReturnType<typeof createEncoderPass>;
}

function loadWeights(arena: Arena, path: string): ReaderWeights {
  const bytes = readFileSync(path);
  if (createHash('sha256').update(bytes).digest('hex') !== WEIGHTS_SHA256)
    throw new Error(`${path} is not the weights file of the tested reader (SHA-256 differs)`);
  const { entries, metadata, data } = listTensors(bytes);
  const tensors = new Map(entries.map((entry) => [entry.name, entry]));
  const bytesOf = (name: string): Uint8Array => {
    const entry = tensors.get(name);
    if (entry === undefined) throw new Error(`${path} has no tensor ${name}`);
    return data.subarray(entry.from, entry.to);
  };
  const rowsOf = (name: string): { readonly values: Int8Array; readonly scales: Float32Array } => {
    const { buffer, byteOffset, length } = bytesOf(name);
    return {
      values: new Int8Array(buffer, byteOffset, length),
      scales: readFloat32s(bytesOf(`${name}.scale`)),
    };
  };
  const floatsOf = (name: string): Float32Array => {
    const { dtype, shape } = tensors.get(name) ?? {};
    if (dtype === 'F32') return readFloat32s(bytesOf(name));
    if (dtype === 'F16') return readFloat16s(bytesOf(name));
    const { values, scales } = rowsOf(name);
    const width = shape?.[1] ?? 1;
    const floats = new Float32Array(values.length);
    for (let at = 0; at < floats.length; at++)
      floats[at] = (values[at] ?? 0) * (scales[Math.floor(at / width)] ?? 0);
    return floats;
  };
  const kernels = createMiniLmKernels(arena.memory);
  const { weights, receive } = createEncoderLoader(arena, kernels, Number(metadata.layers));
  for (const { name } of entries) {
    if (!name.startsWith('bert.') || name.endsWith('.scale')) continue;
    const floats = floatsOf(name);
    receive(name.slice('bert.'.length), (first, count, to) =>
      arena.floats(to, count).set(floats.subarray(first, first + count)),
    );
  }
  const { values, scales } = rowsOf('words.weight');
  return {
    table: { rank: values.length / scales.length, values, scales },
    widen: floatsOf('widen.weight'),
    head: { weight: floatsOf('head.weight'), bias: floatsOf('head.bias') },
    pass: createEncoderPass(arena, kernels, weights),
  };
}
