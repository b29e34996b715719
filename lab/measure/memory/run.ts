/**
 * npm run bench:memory [-- --set FILE --said first --only IDS --model URL/NAME --nothing --explain --json --write]
 *
 * What a user said in earlier sessions, and whether a fresh session's prompt holds what is still true of it and nothing else.
 * Baselines get the raw messages. `--nothing`: messages that teach nothing, and how many of them became a note or a lesson.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { createMiniLmEmbed } from '../../../src/embed/minilm-embed.ts';
import { estimateTokens } from '../../../src/text/estimate-tokens.ts';
import { writeSection } from '../markdown.ts';
import { askMemory, readModelAddress } from './ask-memory.ts';
import { searchVectors, searchWords, wholeHistory } from './memory-baselines.ts';
import { MalformedEntryError, type MemoryEntry, parseMemorySet } from './memory-set.ts';
import { entryOf, type NothingMessage, parseNothingSet } from './nothing-set.ts';
import { type PlayedEntry, playMemory } from './play-memory.ts';
import {
  countKinds,
  type MemoryArm,
  type MemoryScore,
  reportMemory,
  reportNothing,
  scoreMemory,
} from './score-memory.ts';
import { withVectorMap } from './vector-map.ts';

const OURS = ['own', 'own-test'].map((name) => `lab/measure/memory/${name}.jsonl`);
const NOTHING = 'lab/measure/memory/nothing.jsonl';
const DOCUMENT = 'docs/memory.md';
const { values: options } = parseArgs({
  options: {
    set: { type: 'string', multiple: true, default: OURS },
    /** `later`: behind a small task and its answer. `first`: the message opens its session. */
    said: { type: 'string', default: 'later' },
    /** Only the entries with these ids, separated by commas. */
    only: { type: 'string' },
    /** Also score replies: an OpenAI-compatible base URL, a slash, the model's name. */
    model: { type: 'string' },
    /** Play the messages that teach nothing. */
    nothing: { type: 'boolean', default: false },
    /** Print every entry that went wrong. */
    explain: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}

const said = options.said === 'first' || options.said === 'later' ? options.said : undefined;
if (said === undefined) fail(`--said takes first or later, not "${options.said}".`);
const model = options.model === undefined ? undefined : readModelAddress(options.model);
if (options.model !== undefined && model === undefined)
  fail(`--model takes a base URL and a name, such as http://127.0.0.1:8080/v1/NAME, not "${options.model}".`);
const only = options.only?.split(',');

/** All sets are read before the first is played. */
function readSets(): readonly { readonly file: string; readonly entries: readonly MemoryEntry[] }[] {
  try {
    return options.set.map((file) => ({
      file,
      entries: parseMemorySet(readFileSync(file, 'utf8'), file).filter(
        ({ id }) => only === undefined || only.includes(id),
      ),
    }));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (error instanceof MalformedEntryError || code !== undefined) return fail(message);
    throw error;
  }
}

const explain = (entry: MemoryEntry, { missing, shown }: MemoryScore, played: PlayedEntry): string =>
  [
    `- ${entry.id} (${entry.kind}): ${[
      ...(missing.length === 0
        ? []
        : [`missing ${missing.map((group) => `"${group.join('" or "')}"`).join(', ')}`]),
      ...(shown.length === 0 ? [] : [`shows "${shown.join('", "')}"`]),
    ].join('; ')}`,
    `  asked: ${entry.question.replace(/\s+/g, ' ').slice(0, 200)}`,
    ...played.lessons.map((line) => `  lesson ${line.slice(0, 200)}`),
    `  block: ${played.block.replace(/\s+/g, ' ').slice(0, 500)}`,
  ].join('\n');

const embed = withVectorMap(createMiniLmEmbed());
if (options.nothing) {
  const messages = parseNothingSet(readFileSync(NOTHING, 'utf8'), NOTHING);
  const learned: (Pick<PlayedEntry, 'lessons' | 'notes'> & { readonly message: NothingMessage })[] = [];
  for (const message of messages) {
    const { lessons, notes } = await playMemory(entryOf(message), embed, said);
    if (lessons.length > 0) learned.push({ message, lessons, notes });
  }
  await embed.close();
  const section = reportNothing(messages, learned, said);
  process.stdout.write(`${section}\n`);
  for (const { message, lessons } of options.explain ? learned : [])
    process.stdout.write(`- ${message.id} (${message.sort}): ${lessons.join('; ')}\n`);
  const command = `npm run bench:memory -- --nothing ${said === 'later' ? '' : `--said ${said} `}--write`;
  if (options.write)
    writeSection(
      DOCUMENT,
      said === 'later' ? 'bench:memory nothing' : `bench:memory nothing ${said}`,
      `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}. \`${command}\`\n\n${section}`,
    );
  process.exit(0);
}
const sections: string[] = [];
const documents: object[] = [];
for (const { file, entries } of readSets()) {
  if (entries.length === 0) fail(`${file} has no entry to play.`);
  const played: PlayedEntry[] = [];
  for (const entry of entries) {
    played.push(await playMemory(entry, embed, said));
    if (played.length % 20 === 0)
      process.stderr.write(`${path.basename(file)}: ${played.length} of ${entries.length}\n`);
  }
  const vectors: string[] = [];
  for (const entry of entries) vectors.push(await searchVectors(entry, embed));
  const blocks: readonly (readonly [string, readonly string[]])[] = [
    ['Instar', played.map(({ block }) => block)],
    ['BM25', entries.map(searchWords)],
    ['embeddings', vectors],
    ['whole history', entries.map(wholeHistory)],
  ];
  const armOf = async (name: string, texts: readonly string[], isAsked: boolean): Promise<MemoryArm> => {
    const scores: MemoryScore[] = [];
    for (const [nth, entry] of entries.entries()) {
      const block = texts[nth] ?? '';
      const text = isAsked && model !== undefined ? await askMemory(model, block, entry.question) : block;
      scores.push(scoreMemory(entry, text));
    }
    const tokens = texts.reduce((sum, text) => sum + estimateTokens(text), 0) / entries.length;
    return { name, scores, tokens };
  };
  const parts = model === undefined ? ['prompt'] : ['prompt', 'reply'];
  for (const part of parts) {
    const arms: MemoryArm[] = [];
    for (const [name, texts] of blocks) arms.push(await armOf(name, texts, part === 'reply'));
    const where = part === 'reply' ? `replies of ${model?.name}` : 'prompts';
    sections.push(
      reportMemory(
        `${path.basename(file)}: ${entries.length} entries, ${where}, said ${said}`,
        entries,
        arms,
      ),
    );
    documents.push({
      set: file,
      scored: part,
      said,
      entries: entries.length,
      arms: arms.map(({ name, scores, tokens }) => ({
        name,
        tokens,
        kinds: countKinds(entries, scores),
        wrong: entries.flatMap(({ id }, nth) => (scores[nth]?.isRight === true ? [] : [id])),
      })),
    });
    const [own] = arms;
    if (options.explain && part === 'prompt')
      sections.push(
        entries
          .flatMap((entry, nth) => {
            const [score, one] = [own?.scores[nth], played[nth]];
            return score === undefined || one === undefined || score.isRight
              ? []
              : [explain(entry, score, one)];
          })
          .join('\n'),
      );
  }
}
await embed.close();
process.stdout.write(options.json ? `${JSON.stringify(documents, null, 2)}\n` : `${sections.join('\n\n')}\n`);
if (options.write) {
  const named = options.set === OURS ? '' : options.set.map((file) => `--set ${file} `).join('');
  const asked = options.model === undefined ? '' : `--model ${options.model} `;
  const command = `npm run bench:memory -- ${named}${said === 'later' ? '' : `--said ${said} `}${asked}--write`;
  const head = `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}. \`${command}\``;
  writeSection(
    DOCUMENT,
    said === 'later' ? 'bench:memory' : `bench:memory ${said}`,
    [head, ...sections].join('\n\n'),
  );
}
process.exit(0);
