import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createRandom } from '../../../src/base/random.ts';
import { NANO_SHAPE } from '../../../train/nano/model/decoder-weights.ts';
import { writeNanoReply } from '../../../train/nano/policy/nano-template.ts';
import { PROMPT_LIMITS } from '../../../train/nano/policy/render-prompt.ts';
import { createNanoTokenizer } from '../../../train/nano/policy/tokenizer.ts';
import {
  createVocabulary,
  MARK,
  type Pieces,
  writeVocabulary,
} from '../../../train/nano/policy/vocabulary.ts';
import {
  createPlaceholderEncoder,
  createRenaming,
  FIRST_FIGURE_PLACEHOLDER,
  FIRST_WORD_PLACEHOLDER,
  makeFillers,
} from './placeholders.ts';
import type { Sample } from './sample-lines.ts';
import { HABITS, makeSamples } from './samples.ts';
import { trainVocabulary } from './train-vocabulary.ts';

/*
 * Writes the data for pre-training: the tokenizer (models/nano/tokenizer.json) and, in .cache/nano-data, samples of the training split with
 * rules that pre-training may see, a part of them for validation, what their placeholders are filled with, and a manifest.
 *
 *   npm run -s build && node dist/lab/measure/nano/make-data.js [--days 12000] [--processes 2]
 *
 * `--vocabulary keep` uses the tokenizer that is there.
 */
const { values } = parseArgs({
  options: {
    days: { type: 'string', default: '12000' },
    processes: { type: 'string', default: '2' },
    out: { type: 'string', default: '.cache/nano-data' },
    model: { type: 'string', default: 'models/nano' },
    vocabulary: { type: 'string', default: 'train' },
    first: { type: 'string', default: '10000' },
    part: { type: 'string' },
  },
});
const DAYS = Number(values.days);
const PROCESSES = Number(values.processes);
const LONGEST_REPLY = 208;
const FIRST_SEED = Number(values.first);
const VALID_SEED = 9_000_000;
const VALID_DAYS = 40;
const VOCABULARY_DAYS = 60;
const KINDS: readonly Sample['kind'][] = ['task', 'choice', 'rule-choice', 'foreign'];

const say = (text: string) => process.stdout.write(`${text}\n`);
const vocabularyFile = path.join(values.model, 'tokenizer.json');
const hashOf = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');

if (values.part === undefined) await makeAll();
else if (values.part === 'valid') writeSamples('valid', VALID_SEED, VALID_DAYS);
else {
  const part = Number(values.part);
  const days = Math.ceil(DAYS / PROCESSES);
  writeSamples(String(part), FIRST_SEED + part * days, days);
}

async function makeAll(): Promise<void> {
  mkdirSync(values.out, { recursive: true });
  mkdirSync(values.model, { recursive: true });
  if (values.vocabulary !== 'keep')
    writeFileSync(vocabularyFile, writeVocabulary(trainVocabulary(sampleTexts(), NANO_SHAPE.vocabulary)));
  const { tokenizer, pieces } = readTokenizer();
  say(
    `vocabulary: ${tokenizer.size}, ${pieces.starts.length} + ${pieces.insides.length} + ${pieces.signs.length} pieces`,
  );
  const pool = makeFillers(tokenizer, pieces);
  const packed = [pool.words, pool.figures].flatMap((list) => [
    list.length,
    ...list.flatMap((one) => [one.length, ...one]),
  ]);
  writeFileSync(path.join(values.out, 'pool.bin'), new Uint8Array(Uint16Array.from(packed).buffer));
  const parts = ['valid', ...Array.from({ length: PROCESSES }, (_, at) => String(at))];
  await Promise.all(parts.map(runPart));
  const manifest = {
    made: 'lab/measure/nano/make-data.ts',
    seeds: { train: [FIRST_SEED, FIRST_SEED + DAYS], valid: VALID_SEED },
    days: DAYS,
    parts: parts.slice(1),
    habits: HABITS,
    limits: PROMPT_LIMITS,
    marks: MARK,
    open: { words: FIRST_WORD_PLACEHOLDER, figures: FIRST_FIGURE_PLACEHOLDER },
    shape: NANO_SHAPE,
    tokenizer: hashOf(vocabularyFile),
  };
  writeFileSync(path.join(values.out, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

async function runPart(part: string): Promise<void> {
  const { days, processes, out, model, first } = values;
  const child = fork(fileURLToPath(import.meta.url), [
    ...[
      '--part',
      part,
      '--days',
      days,
      '--processes',
      processes,
      '--out',
      out,
      '--model',
      model,
      '--first',
      first,
    ],
  ]);
  const code = await new Promise((resolve) => child.once('exit', resolve));
  if (code !== 0) throw new Error(`part ${part} ended with ${String(code)}`);
}

function readTokenizer() {
  const pieces = JSON.parse(readFileSync(vocabularyFile, 'utf8')) as Pieces;
  return { pieces, tokenizer: createNanoTokenizer(createVocabulary(pieces)) };
}

/** The texts for the vocabulary: of some training days, with all names replaced. */
function* sampleTexts(): Generator<string> {
  for (let at = 0; at < Math.min(VOCABULARY_DAYS, DAYS); at++) {
    const rename = createRenaming(createRandom(`vocabulary/${at}`));
    for (const { task, clean, lines } of makeSamples(FIRST_SEED + at, false)) {
      yield rename(task);
      for (const { texts } of lines) yield rename(texts[0] ?? '');
      if (clean.is === 'act') yield rename(clean.commands.join('\n'));
      if (clean.is === 'say') yield clean.text;
    }
  }
}

/**
 * samples-N.bin: for each sample its kind, the count of lines, for each its mark, the count of its texts and each with its length, then the
 * task, then the count of replies and each; the first reply is the clean one. samples-N.idx: for each sample its place and its usual length.
 */
function writeSamples(name: string, seed: number, days: number): void {
  const { tokenizer } = readTokenizer();
  const encode = createPlaceholderEncoder(tokenizer);
  const numbers = createNumbers(Uint16Array);
  const index = createNumbers(Uint32Array);
  const count: Record<string, number> = { 'too long': 0 };
  for (let day = seed; day < seed + days; day++)
    for (const sample of makeSamples(day)) {
      const replies = [sample.clean, ...sample.noisy].map((reply) =>
        writeNanoReply(reply, { ...tokenizer, encode }),
      );
      const task = encode(sample.task);
      const isFitting =
        task.length <= PROMPT_LIMITS.taskTokens && replies.every(({ length }) => length <= LONGEST_REPLY);
      const kind = isFitting ? sample.kind : 'too long';
      count[kind] = (count[kind] ?? 0) + 1;
      if (!isFitting) continue;
      const place = numbers.length();
      let usual = 3 + task.length + (replies[0]?.length ?? 0);
      numbers.add(KINDS.indexOf(sample.kind), sample.lines.length);
      for (const { mark, texts } of sample.lines) {
        numbers.add(MARK[mark], texts.length);
        for (const text of texts) {
          const tokens = encode(text).slice(
            0,
            mark === 'skill' ? PROMPT_LIMITS.skillTokens : PROMPT_LIMITS.saidTokens,
          );
          numbers.add(tokens.length, ...tokens);
          usual += (1 + tokens.length) / texts.length;
        }
      }
      numbers.add(task.length, ...task, replies.length);
      for (const reply of replies) numbers.add(reply.length, ...reply);
      index.add(place, Math.round(usual));
    }
  writeFileSync(path.join(values.out, `samples-${name}.bin`), numbers.bytes());
  writeFileSync(path.join(values.out, `samples-${name}.idx`), index.bytes());
  say(`${name}: ${JSON.stringify(count)}, ${numbers.length()} numbers`);
}

/** A list of numbers that grows. */
function createNumbers(Kind: typeof Uint16Array | typeof Uint32Array) {
  let held = new Kind(1 << 20);
  let length = 0;
  return {
    length: () => length,
    add: (...more: readonly number[]) => {
      if (length + more.length > held.length) {
        const larger = new Kind(2 * held.length + more.length);
        larger.set(held);
        held = larger;
      }
      held.set(more, length);
      length += more.length;
    },
    bytes: () => new Uint8Array(held.buffer, 0, length * held.BYTES_PER_ELEMENT),
  };
}
