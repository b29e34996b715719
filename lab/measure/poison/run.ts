import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { createManualClock } from '../../../src/core/clock.ts';
import { createMiniLmEmbed, MINILM } from '../../../src/embed/minilm-embed.ts';
import { openLibrary } from '../../../src/lessons/library.ts';
import { wilsonInterval } from '../../../src/stats/interval.ts';
import { markdownTable, writeSection } from '../markdown.ts';
import { describeEngines, findEmptyCount, findOtherEngine } from '../measured.ts';
import { type FalseAlarm, type HarmlessResult, judgeHarmless, parseHarmlessSet } from './harmless.ts';
import { type PlayResult, playPoison } from './play-poison.ts';
import { findUnsearched, playRecalled, reportRecalled } from './play-recalled.ts';
import { playSkillFiles } from './play-skill-files.ts';
import { findUnplayed, reportPoison, summarizePoison } from './poison-report.ts';
import { MalformedSetError, type PoisonPlay, parsePoisonSet } from './poison-set.ts';
import { POISON_WAYS } from './script.ts';

/** How many poisoned texts become lessons, and how many harmless ones do not: our sets, or any file of that format. */
const OURS = ['dev', 'test', 'free'].map((part) => `lab/measure/poison/sets/${part}.jsonl`);
const HARMLESS = ['dev', 'test'].map((part) => `lab/measure/poison/sets/harmless-${part}.jsonl`);
const OUTPUTS = 'lab/measure/poison/sets/harmless-outputs.jsonl';
const { values: options } = parseArgs({
  options: {
    set: { type: 'string', multiple: true, default: OURS },
    only: { type: 'string', default: 'view,echo,paraphrase,recalled' },
    limit: { type: 'string' },
    json: { type: 'boolean', default: false },
    out: { type: 'string' },
    write: { type: 'boolean', default: false },
    /** Only the harmless skills, of these files or of ours. */
    harmless: { type: 'boolean', default: false },
    skills: { type: 'string', multiple: true, default: HARMLESS },
  },
});

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}

const ways = POISON_WAYS.filter((way) => options.only.split(',').includes(way));
const isRecalled = options.only.split(',').includes('recalled');
if (ways.length === 0 && !isRecalled)
  fail(`--only takes ${POISON_WAYS.join(', ')} and recalled, not "${options.only}".`);
const limit = options.limit === undefined ? Number.POSITIVE_INFINITY : Number(options.limit);
if (!(limit > 0)) fail(`--limit takes a number of items, not "${options.limit}".`);

/** All sets are read before the first is played. */
function readSets(): readonly { readonly file: string; readonly plays: readonly PoisonPlay[] }[] {
  try {
    return options.set.map((file) => ({
      file,
      plays: parsePoisonSet(readFileSync(file, 'utf8'), file).slice(0, limit),
    }));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (error instanceof MalformedSetError || code !== undefined) return fail(message);
    throw error;
  }
}

/** Harmless skill files come in by the owner's command alone, so that the three ways are one. */
const isOwnersFile = ({ scored: { isBenign, channel } }: PoisonPlay): boolean =>
  isBenign && channel === 'skill_file';

/** A skill file counts as in view when it is shown after any way in: read by the agent, dropped into the folder, imported. */
async function withSkillFiles(
  plays: readonly PoisonPlay[],
  results: readonly PlayResult[],
): Promise<readonly PlayResult[]> {
  const isPlayed = ways.includes('view');
  const files = await playSkillFiles(
    plays
      .filter((play) => isOwnersFile(play) || (isPlayed && play.scored.channel === 'skill_file'))
      .map(({ scored }) => scored),
  );
  const found = new Map(files.map((file) => [file.item.id, file]));
  const owned = plays.filter(isOwnersFile).flatMap((play) => {
    const imported = found.get(play.scored.id)?.imported;
    return ways.map((way): PlayResult => {
      const shown = imported === undefined ? { isShown: false } : { isShown: true, lesson: imported };
      return {
        play,
        way,
        ...shown,
        asked: ['skills', 'note'],
        isOver: true,
        states: [],
        rulings: [],
        why: [],
        jobs: [],
      };
    });
  });
  const read = results.map((result) => {
    const file = result.way === 'view' && !result.isShown ? found.get(result.play.scored.id) : undefined;
    const lesson = file?.dropped ?? file?.imported;
    return lesson === undefined ? result : { ...result, isShown: true, lesson };
  });
  return [...read, ...owned];
}

const sections: string[] = [];
const documents: object[] = [];
const faults: string[] = [];
for (const { file, plays } of options.harmless ? [] : readSets()) {
  const startedAt = performance.now();
  const name = path.basename(file);
  if (isRecalled) {
    const results = await playRecalled(plays, (done, of) =>
      process.stderr.write(`${name}: ${done} of ${of} recalled, ${seconds(startedAt)} s\n`),
    );
    documents.push({ set: file, recalled: results.map(({ item: { id }, ...rest }) => ({ id, ...rest })) });
    sections.push(`### ${name}, ${results.length} items\n\n${reportRecalled(results)}`);
    faults.push(
      ...[findEmptyCount(`recall of ${name}`, results.length), findUnsearched(name, results)].flatMap(
        (fault) => fault ?? [],
      ),
    );
  }
  if (ways.length === 0) continue;
  const played = await playPoison(
    plays.filter((play) => !isOwnersFile(play)),
    ways,
    (done, of) =>
      process.stderr.write(`${path.basename(file)}: ${done} of ${of} plays, ${seconds(startedAt)} s\n`),
  );
  const summary = summarizePoison(await withSkillFiles(plays, played.results));
  const lines = plays.reduce((sum, { parts }) => sum + parts.length, 0);
  const attacks = plays.filter(({ scored }) => !scored.isBenign).length;
  const title = `${path.basename(file)}: ${attacks} attacks, ${plays.length - attacks} harmless items (${lines} lines), ${seconds(startedAt)} s`;
  const engines = Object.fromEntries(played.engines.byEngine);
  documents.push({ set: file, attacks, benign: plays.length - attacks, engines, ...summary });
  sections.push(reportPoison(`${title}; prompts ${describeEngines(engines)}`, summary));
  const found = [
    findEmptyCount(`play of ${name}`, played.results.length),
    findUnplayed(name, summary),
    findOtherEngine(MINILM, played.engines),
  ];
  faults.push(...found.flatMap((fault) => fault ?? []));
}

if (options.harmless || (options.set === OURS && ways.length > 0)) {
  const scores = await scoreHarmless(options.skills);
  documents.push(...scores);
  sections.push(reportHarmless(scores));
}

function seconds(since: number): string {
  return ((performance.now() - since) / 1000).toFixed(0);
}

const text = options.json
  ? JSON.stringify(documents.length === 1 ? documents[0] : documents, null, 2)
  : sections.join('\n\n');
process.stdout.write(`${text}\n`);
if (options.out !== undefined) writeFileSync(options.out, `${text}\n`);
for (const fault of faults) process.stderr.write(`${fault}\n`);
if (faults.length > 0) process.exitCode = 1;
else if (options.write) {
  const command = `npm run bench:poison -- ${options.set === OURS ? '' : options.set.map((file) => `--set ${file} `).join('')}--write`;
  const head = `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}. \`${command}\``;
  writeSection('lab/results/poison.md', 'bench:poison', [head, ...sections].join('\n\n'));
}

/** Judges the harmless skills of each file, with the sentence model that the product uses. */
async function scoreHarmless(files: readonly string[]): Promise<readonly HarmlessScore[]> {
  const sets = files.map((file) => ({ file, skills: parseHarmlessSet(readFileSync(file, 'utf8'), file) }));
  const outputs = readFileSync(OUTPUTS, 'utf8')
    .trim()
    .split('\n')
    .map((line): string => JSON.parse(line).text);
  const { library } = await openLibrary({
    load: async () => [],
    append: async () => {
      throw new Error('nothing is published');
    },
    clock: createManualClock(0),
    newId: (prefix) => `${prefix}_1`,
    onFault: () => undefined,
  });
  const model = createMiniLmEmbed();
  const scores: HarmlessScore[] = [];
  for (const { file, skills } of sets)
    scores.push({ set: file, ...(await judgeHarmless(skills, outputs, library, model.embed.bind(model))) });
  await model.close();
  return scores;
}

interface HarmlessScore extends HarmlessResult {
  readonly set: string;
}

function reportHarmless(scores: readonly HarmlessScore[]): string {
  const cell = (alarms: readonly FalseAlarm[], of: number): string => {
    const { low, high } = wilsonInterval(alarms.length, of);
    return `${alarms.length} of ${of} (${(low * 100).toFixed(1)} % to ${(high * 100).toFixed(1)} %)`;
  };
  const rows = scores.map(({ set, skills, learned, imported }) => [
    path.basename(set),
    cell(learned, skills),
    cell(imported, skills),
  ]);
  const alarms = scores.flatMap(({ learned, imported }) => [
    ...learned.map(({ id, why }) => `- ${id}, learned: ${why.join('; ')}`),
    ...imported.map(({ id, why }) => `- ${id}, imported: ${why.join('; ')}`),
  ]);
  const table = markdownTable(['harmless skills that wait for a person', 'learned', 'imported'], rows);
  return ['### False alarms', table, ...(alarms.length === 0 ? [] : [alarms.join('\n')])].join('\n\n');
}
