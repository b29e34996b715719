/**
 * npm run bench:memory [-- --set FILE --said first --only IDS --model URL/NAME --nothing --back --explain --json --write]
 *
 * What a user said in earlier sessions, and whether a fresh session's prompt holds what is still true of it and nothing else.
 * Baselines get the raw messages. `--nothing`: messages that teach nothing, and how many of them became a note or a lesson. `--back`: tasks
 * that look back without a question mark, and what coding messages gain.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { createMiniLmEmbed } from '../../../src/embed/minilm-embed.ts';
import { estimateTokens } from '../../../src/text/estimate-tokens.ts';
import { writeSection } from '../markdown.ts';
import { createEngineCounts, describeEngines, requireEngine, requireSome } from '../measured.ts';
import { askMemory, readModelAddress } from './ask-memory.ts';
import { measureLookingBack } from './looking-back.ts';
import { searchVectors, searchWords, wholeHistory } from './memory-baselines.ts';
import { MalformedEntryError, type MemoryEntry, parseMemorySet } from './memory-set.ts';
import { entryOf, type NothingMessage, parseNothingSet } from './nothing-set.ts';
import { type PlayedEntry, playMemory, type SaidWhen } from './play-memory.ts';
import {
  countKinds,
  describeRules,
  isScored,
  type MemoryArm,
  type MemoryScore,
  reportMemory,
  reportNothing,
  type ScoredPart,
  scoreMemory,
} from './score-memory.ts';
import { withVectorMap } from './vector-map.ts';

const OURS = ['own', 'own-test'].map((name) => `lab/measure/memory/${name}.jsonl`);
const NOTHING = 'lab/measure/memory/nothing.jsonl';
const DOCUMENT = 'lab/results/memory.md';
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
    /** Ask tasks that look back without a question mark, and messages that do not. */
    back: { type: 'boolean', default: false },
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
if (options.back) {
  const { text, wrong } = await measureLookingBack(embed);
  await embed.close();
  process.stdout.write(`${[text, ...(options.explain ? wrong : [])].join('\n')}\n`);
  const command = 'npm run bench:memory -- --back --write';
  const head = `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}. \`${command}\``;
  if (options.write) writeSection(DOCUMENT, 'bench:memory back', `${head}\n\n${text}`);
  process.exit(0);
}
if (options.nothing) {
  const messages = parseNothingSet(readFileSync(NOTHING, 'utf8'), NOTHING);
  requireSome(`message in ${NOTHING}`, messages.length);
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

async function playSet(file: string, entries: readonly MemoryEntry[], when: SaidWhen) {
  const played: PlayedEntry[] = [];
  const engines = createEngineCounts();
  for (const entry of entries) {
    const one = await playMemory(entry, embed, when);
    // A library without lessons has nothing to compare.
    engines.add(one.lessons.length === 0 ? 'none' : one.engine);
    played.push(one);
    if (played.length % 20 === 0)
      process.stderr.write(`${path.basename(file)}: ${played.length} of ${entries.length}\n`);
  }
  requireEngine(embed.id, engines);
  return { played, engines: Object.fromEntries(engines.byEngine) };
}

/** The blocks of each way to fill a prompt, in the order of the entries. */
async function fillPrompts(
  entries: readonly MemoryEntry[],
  played: readonly PlayedEntry[],
): Promise<readonly (readonly [string, readonly string[]])[]> {
  const vectors: string[] = [];
  for (const entry of entries) vectors.push(await searchVectors(entry, embed));
  return [
    ['Instar', played.map(({ block }) => block)],
    ['BM25', entries.map(searchWords)],
    ['embeddings', vectors],
    ['whole history', entries.map(wholeHistory)],
  ];
}

async function scoreArm(
  name: string,
  entries: readonly MemoryEntry[],
  texts: readonly string[],
  part: ScoredPart,
): Promise<MemoryArm> {
  const scores: MemoryScore[] = [];
  for (const [nth, entry] of entries.entries()) {
    const block = texts[nth] ?? '';
    const isAsked = part === 'reply' && model !== undefined;
    const text = isAsked ? await askMemory(model, block, entry.question) : block;
    scores.push(scoreMemory(entry, text, part));
  }
  const tokens = texts.reduce((sum, text) => sum + estimateTokens(text), 0) / entries.length;
  return { name, scores, tokens };
}

/** Those that this part can score, with their texts. */
function scoredIn<T>(entries: readonly MemoryEntry[], all: readonly T[], part: ScoredPart): readonly T[] {
  return all.filter((_, nth) => {
    const entry = entries[nth];
    return entry !== undefined && isScored(entry, part);
  });
}

for (const { file, entries: all } of readSets()) {
  requireSome(`entry to play in ${file}`, all.length);
  const { played: everyPlayed, engines } = await playSet(file, all, said);
  const blocks = await fillPrompts(all, everyPlayed);
  const parts: readonly ScoredPart[] = model === undefined ? ['prompt'] : ['prompt', 'reply'];
  for (const part of parts) {
    const entries = scoredIn(all, all, part);
    const played = scoredIn(all, everyPlayed, part);
    requireSome(`entry of ${file} that a ${part} can answer`, entries.length);
    const arms: MemoryArm[] = [];
    for (const [name, texts] of blocks)
      arms.push(await scoreArm(name, entries, scoredIn(all, texts, part), part));
    const where = part === 'reply' ? `replies of ${model?.name}` : 'prompts';
    const title = `${path.basename(file)}: ${entries.length} entries, ${where}, said ${said}`;
    const rules = [...describeRules(all, part), `Questions ${describeEngines(engines)}.`];
    sections.push(`${reportMemory(title, entries, arms)}\n\n${rules.join(' ')}`);
    documents.push({
      set: file,
      scored: part,
      said,
      entries: entries.length,
      rules,
      engines,
      unscored: all.filter((entry) => !isScored(entry, part)).map(({ id }) => id),
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
