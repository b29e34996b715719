import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { NANO_SHAPE } from '../../../nano/model/decoder-weights.ts';
import { writeNanoReply } from '../../../nano/policy/nano-template.ts';
import { PROMPT_LIMITS } from '../../../nano/policy/render-prompt.ts';
import { createNanoTokenizer } from '../../../nano/policy/tokenizer.ts';
import { createVocabulary, MARK, writeVocabulary } from '../../../nano/policy/vocabulary.ts';
import { createRandom, type Random } from '../../../src/base/random.ts';
import type { Split } from '../../workdays/world.ts';
import { makeEvaluation } from './evaluation.ts';
import { type LessonPool, makeLessons } from './lessons.ts';
import {
  createPlaceholderEncoder,
  createPlaceholders,
  createRenaming,
  FIRST_FIGURE_PLACEHOLDER,
  FIRST_WORD_PLACEHOLDER,
  makeFillers,
} from './placeholders.ts';
import { HABITS, makeSamples, type Sample, type SampleOptions } from './samples.ts';
import { trainVocabulary } from './train-vocabulary.ts';

/*
 * Writes the data for pre-training: the tokenizer (models/nano/tokenizer.json) and, in .cache/nano-data, the samples of the training split,
 * some of the gate split for the loss, the lessons in their prompts, evaluation prompts of the gate split, and a manifest.
 *
 *   npm run -s build && node dist/lab/measure/nano/make-data.js [--worlds 350]
 */
const { values } = parseArgs({
  options: {
    worlds: { type: 'string', default: '350' },
    out: { type: 'string', default: '.cache/nano-data' },
    model: { type: 'string', default: 'models/nano' },
  },
});
const WORLDS = Number(values.worlds);
const OUT = values.out;
const MODEL = values.model;
const LESSONS_PER_RULE = 60;
const BLUR = 0.3;
const LONGEST_REPLY = 208;
const FIRST_SEED = 10_000;
const GATE_SEED = 20_000;

const optionsOf = (split: Split, seed: number): SampleOptions => ({
  split,
  seed,
  variants: 4,
  documentChoices: 150,
  foreign: 60,
  isOpen: split === 'train',
});

mkdirSync(OUT, { recursive: true });
mkdirSync(MODEL, { recursive: true });
const say = (text: string) => process.stdout.write(`${text}\n`);

const lessons = {
  train: await makeLessons('train', LESSONS_PER_RULE),
  gate: await makeLessons('gate', LESSONS_PER_RULE),
};
say(
  `lessons: ${[...lessons.train.values()].flat().length} of train, ${[...lessons.gate.values()].flat().length} of gate`,
);

const vocabulary = trainVocabulary(sampleTexts(), NANO_SHAPE.vocabulary);
writeFileSync(path.join(MODEL, 'tokenizer.json'), writeVocabulary(vocabulary));
const tokenizer = createNanoTokenizer(createVocabulary(vocabulary));
say(
  `vocabulary: ${tokenizer.size}, ${vocabulary.starts.length} + ${vocabulary.insides.length} + ${vocabulary.signs.length} pieces`,
);

const encode = createPlaceholderEncoder(tokenizer);
writePool();
const counts = {
  train: writeSamples(
    'train',
    Array.from({ length: WORLDS }, (_, at) => optionsOf('train', FIRST_SEED + at)),
  ),
  gate: writeSamples(
    'gate',
    Array.from({ length: Math.max(1, Math.round(WORLDS / 100)) }, (_, at) =>
      optionsOf('gate', GATE_SEED + at),
    ),
  ),
};
const evaluation = makeEvaluation(lessons, tokenizer);
writeFileSync(path.join(OUT, 'evaluation.json'), JSON.stringify(evaluation));
const files = [
  'pool.bin.gz',
  'lessons-train.bin.gz',
  'samples-train.bin.gz',
  'lessons-gate.bin.gz',
  'samples-gate.bin.gz',
  'evaluation.json',
];
const manifest = {
  made: 'lab/measure/nano/make-data.ts',
  seeds: { train: [FIRST_SEED, FIRST_SEED + WORLDS - 1], gate: GATE_SEED },
  habits: HABITS,
  limits: PROMPT_LIMITS,
  marks: MARK,
  open: { words: FIRST_WORD_PLACEHOLDER, figures: FIRST_FIGURE_PLACEHOLDER },
  shape: NANO_SHAPE,
  counts,
  evaluation: evaluation.length,
  files: Object.fromEntries(files.map((file) => [file, hashOf(path.join(OUT, file))])),
  tokenizer: hashOf(path.join(MODEL, 'tokenizer.json')),
};
writeFileSync(path.join(OUT, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`);
say(JSON.stringify(counts));

/** The texts for the vocabulary: some of the training worlds with all names replaced. */
function* sampleTexts(): Generator<string> {
  for (let at = 0; at < Math.min(60, WORLDS); at++) {
    const rename = createRenaming(createRandom(`vocabulary/${at}`));
    for (const { task, reply } of makeSamples({
      ...optionsOf('train', FIRST_SEED + at),
      variants: 1,
      foreign: 10,
      isOpen: false,
    })) {
      yield rename(task);
      if (reply.is === 'act') yield rename(reply.commands.join('\n'));
      if (reply.is === 'say') yield reply.text;
    }
  }
  for (const lines of lessons.train.values())
    for (const line of lines) yield createRenaming(createRandom(line))(line);
}

function writeSamples(split: 'train' | 'gate', worlds: readonly SampleOptions[]) {
  const keys = writeLessons(split, lessons[split]);
  const packer = createPacker();
  const count: Record<string, number> = { 'too long': 0 };
  let tokens = 0;
  for (const world of worlds)
    for (const sample of makeSamples(world)) {
      const packed = packSample(sample, keys);
      const kind = packed === undefined ? 'too long' : sample.kind;
      count[kind] = (count[kind] ?? 0) + 1;
      if (packed === undefined) continue;
      packer.add(...packed);
      tokens += packed.length;
    }
  const bytes = packer.write(path.join(OUT, `samples-${split}.bin.gz`));
  say(`${split}: ${tokens} numbers, ${bytes} bytes packed`);
  return count;
}

/** count of lessons, their keys, length of the task, the task, length of the reply, the reply. */
function packSample(sample: Sample, keys: ReadonlyMap<string, number>): readonly number[] | undefined {
  const task = encode(sample.task);
  const reply = writeNanoReply(sample.reply, { ...tokenizer, encode });
  const slots = sample.lessons.flatMap((key) => keys.get(key) ?? []);
  if (task.length > PROMPT_LIMITS.taskTokens || reply.length > LONGEST_REPLY) return undefined;
  return [slots.length, ...slots, task.length, ...task, reply.length, ...reply];
}

/** For each key: count of its lines, then each with its length. Most lines have placeholders for names. */
function writeLessons(split: Split, pool: LessonPool): ReadonlyMap<string, number> {
  const packer = createPacker();
  const keys = new Map([...pool.keys()].map((key, at) => [key, at]));
  packer.add(pool.size);
  for (const [key, lines] of pool) {
    const random = createRandom(`lesson names/${split}/${key}`);
    const shown = lines.map((line) =>
      split === 'train' && random.next() < 0.8 ? createPlaceholders().open(line) : line,
    );
    if (split === 'train') shown.push(...lines.map((line) => blurred(line, random)));
    packer.add(shown.length);
    for (const line of shown) {
      const tokens = encode(line).slice(0, PROMPT_LIMITS.skillTokens);
      packer.add(tokens.length, ...tokens);
    }
  }
  packer.write(path.join(OUT, `lessons-${split}.bin.gz`));
  return keys;
}

/** Also replaces some words by placeholders, so that no wording is memorised; quotes and examples stay. */
function blurred(line: string, random: Random): string {
  const { open, nextWord } = createPlaceholders();
  return open(line).replace(/(?<=^|\s)[A-Za-z][a-z]+(?=[,.:;]?(?:\s|$))/g, (word) => {
    if (random.next() >= BLUR) return word;
    const other = nextWord();
    return /^[A-Z]/.test(word) ? other.charAt(0).toUpperCase() + other.slice(1) : other;
  });
}

/** Words, then figures: their count, then each with its length. */
function writePool(): void {
  const packer = createPacker();
  const { words, figures } = makeFillers(tokenizer, vocabulary);
  for (const list of [words, figures]) {
    packer.add(list.length);
    for (const tokens of list) packer.add(tokens.length, ...tokens);
  }
  packer.write(path.join(OUT, 'pool.bin.gz'));
}

function hashOf(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

/** Collects numbers below 65,536 and writes them to a compressed file. */
interface Packer {
  add(...numbers: readonly number[]): void;
  /** Bytes on disk. */
  write(file: string): number;
}

function createPacker(): Packer {
  let numbers = new Uint16Array(1 << 20);
  let length = 0;
  return {
    add: (...more) => {
      if (length + more.length > numbers.length) {
        const larger = new Uint16Array(2 * numbers.length + more.length);
        larger.set(numbers);
        numbers = larger;
      }
      numbers.set(more, length);
      length += more.length;
    },
    write: (file) => {
      const bytes = gzipSync(new Uint8Array(numbers.buffer, 0, 2 * length), { level: 9 });
      writeFileSync(file, bytes);
      return bytes.length;
    },
  };
}
