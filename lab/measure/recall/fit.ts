import type { EmbeddingModel } from '../../../src/core/recall.ts';
import { createStaticEmbed } from '../../../src/embed/static-embed.ts';
import { readQuery } from '../../../src/lessons/recall/clean-query.ts';
import { type ScanRange, scanLessons } from '../../../src/lessons/recall/find-candidates.ts';
import { chatPenalty, isSmallTalk } from '../../../src/lessons/recall/idle-requests.ts';
import { createLessonIndex, type LessonIndex } from '../../../src/lessons/recall/lesson-index.ts';
import {
  createEvidence,
  FIRST_LOOK,
  RELEVANCE,
  type RelevanceWeights,
} from '../../../src/lessons/recall/relevance.ts';
import { estimateLessonTokens } from '../../../src/lessons/recall/select-lessons.ts';
import { markdownTable } from '../markdown.ts';
import { openBenchCache } from './quality.ts';
import type { RecallTask, RecallTasks } from './read-tasks.ts';
import { createLiveSkill, createMulberry32 } from './synthetic.ts';

/** The scores of all lessons for one task, in parts, so that other weights need no other scan. */
interface ScannedTask {
  readonly task: RecallTask;
  /** Subtracted from all evidence; infinite for small talk. */
  readonly doubt: number;
  readonly best: Float32Array;
  readonly second: Float32Array;
  readonly whole: Float32Array;
  readonly words: Float32Array;
  readonly idle: number;
  readonly sizes: readonly number[];
  readonly ids: readonly string[];
}

/** Lessons per task that any weights could show. */
const MOST_KEPT = 48;
const ONLY = { ...RELEVANCE, best: 0, second: 0, whole: 0 };
const ALL = {};

/** What read the lessons, and what reads the tasks. */
interface FitEngines {
  readonly embed: EmbeddingModel;
  readonly asked: EmbeddingModel;
}

/** As many as recall reads of a task. */
const MOST_PIECES = 48;

/** All lessons, as if all were in scope. */
const everything = ({ table: { length }, stamp }: LessonIndex): ScanRange => ({
  length,
  stamp,
  standings: new Uint8Array(length).fill(1),
});

/** Scores of every lesson for every task. `isStripped`: the lessons lose their triggers. */
async function scanTasks(
  { lessons, tasks }: RecallTasks,
  { embed, asked }: FitEngines,
  isStripped: boolean,
): Promise<readonly ScannedTask[]> {
  const cache = await openBenchCache(embed);
  const index = createLessonIndex({ embed, first: embed, cache }, () => ({ scope: ALL, reach: ALL }));
  const given = lessons.map(({ triggers, ...rest }) =>
    createLiveSkill(isStripped || triggers === undefined ? rest : { ...rest, triggers }),
  );
  await index.update(given);
  await index.settled();
  const scanned: ScannedTask[] = [];
  for (const task of tasks) {
    const { text, meant } = readQuery(task.query);
    const [meaning] = await asked.embed([meant], MOST_PIECES);
    const part = async (name: 'best' | 'second' | 'whole'): Promise<Float32Array> =>
      (await scanLessons(index, everything(index), { text, meaning }, { ...ONLY, [name]: 1 })).similarity ??
      new Float32Array(lessons.length);
    const { words, idle = 0 } = await scanLessons(index, everything(index), { text, meaning }, RELEVANCE);
    const [best, second, whole] = [await part('best'), await part('second'), await part('whole')];
    const promise = (slot: number): number =>
      (best[slot] ?? 0) + (whole[slot] ?? 0) + 0.3 * (words[slot] ?? 0);
    const slots = [...given.keys()].sort((a, b) => promise(b) - promise(a)).slice(0, MOST_KEPT);
    const pick = (values: Float32Array): Float32Array =>
      Float32Array.from(slots, (slot) => values[slot] ?? 0);
    const lessonAt = (slot: number) => index.at(slot)?.lesson ?? fallbackLesson;
    scanned.push({
      task,
      doubt: isSmallTalk(text) ? Number.POSITIVE_INFINITY : chatPenalty(text),
      best: pick(best),
      second: pick(second),
      whole: pick(whole),
      words: pick(words),
      idle,
      sizes: slots.map((slot) => estimateLessonTokens(lessonAt(slot))),
      ids: slots.map((slot) => lessonAt(slot).id),
    });
  }
  await cache.close();
  return scanned;
}

const fallbackLesson = createLiveSkill({ id: '', name: '', description: '', content: '' });

interface ShownSlots {
  readonly bodies: readonly number[];
  readonly lines: readonly number[];
}

const [TOP_K, TOKENS, LINES, FIRST_LINES, RANK, HALF] = [6, 1500, 20, 6, 4, 0.5];

function evidenceOf(
  { best, second, whole, words, idle, doubt }: ScannedTask,
  weights: RelevanceWeights,
): readonly number[] {
  if (doubt === Number.POSITIVE_INFINITY) return [];
  const similarity = best.map(
    (value, slot) =>
      weights.best * value + weights.second * (second[slot] ?? 0) + weights.whole * (whole[slot] ?? 0),
  );
  const fourth = (values: Float32Array): number => [...values].sort((a, b) => b - a)[RANK - 1] ?? 0;
  const evidence = createEvidence(weights, {
    similarity: fourth(similarity),
    words: fourth(words),
    idle,
  });
  return [...similarity].map((value, slot) => evidence(value, words[slot] ?? 0) - doubt);
}

/** What recall would show, apart from near-duplicates and age. */
function select(scan: ScannedTask, weights: RelevanceWeights): ShownSlots {
  const scores = evidenceOf(scan, weights);
  if (scores.length === 0) return { bodies: [], lines: [] };
  const order = [...scores.keys()].sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0));
  const top = scores[order[0] ?? 0] ?? 0;
  const enough = top < 0 ? 0 : Math.max(weights.beside, Math.min(top - weights.nearBest, top * HALF));
  const bodies: number[] = [];
  let room = TOKENS;
  for (const slot of order) {
    const size = scan.sizes[slot] ?? 0;
    if ((scores[slot] ?? 0) < enough || bodies.length === TOP_K) break;
    if (size > room) continue;
    room -= size;
    bodies.push(slot);
  }
  const lines = order.filter((slot) => !bodies.includes(slot) && (scores[slot] ?? 0) >= weights.listed);
  return { bodies, lines: lines.slice(0, LINES) };
}

/** Goals of the fit, as shares of the tasks of a kind. */
interface FitScore {
  readonly score: number;
  readonly inBodies: number;
  readonly inSix: number;
  readonly plain: number;
  readonly withoutBody: number;
  readonly near: number;
  readonly bodies: number;
}

interface FitSets {
  readonly ours: readonly ScannedTask[];
  readonly stripped: readonly ScannedTask[];
  readonly near: readonly ScannedTask[];
}

/** Of unrelated tasks this share may get a body; a margin, since other tasks will differ. */
const UNRELATED_SHARE = 0.03;
const PARAPHRASES = new Set(['paraphrase', 'log']);
const PLAIN = new Set(['plain', 'long', 'identifier']);

/** The weights with the threshold that unrelated tasks allow. */
function calibrated({ ours, stripped }: FitSets, weights: RelevanceWeights): RelevanceWeights {
  const open = { ...weights, threshold: 0 };
  const tops = [...ours, ...stripped]
    .filter(({ task }) => task.right.length === 0)
    .map((scan) => Math.max(Number.NEGATIVE_INFINITY, ...evidenceOf(scan, open)))
    .sort((a, b) => b - a);
  const threshold = tops[Math.floor(tops.length * UNRELATED_SHARE)] ?? 0;
  return { ...weights, threshold: threshold + 0.01 };
}

function scoreWeights({ ours, stripped, near }: FitSets, weights: RelevanceWeights): FitScore {
  const both = [...ours, ...stripped];
  const sums = { inBodies: 0, inSix: 0, bodies: 0, paraphrases: 0, plain: 0, plains: 0, idle: 0, idles: 0 };
  for (const scan of both) {
    const { bodies, lines } = select(scan, weights);
    const { kind, right } = scan.task;
    const has = (slots: readonly number[]): number =>
      slots.some((slot) => right.includes(scan.ids[slot] ?? '')) ? 1 : 0;
    if (right.length === 0) {
      sums.idles++;
      sums.idle += bodies.length === 0 ? 1 : 0;
    } else if (PARAPHRASES.has(kind)) {
      sums.paraphrases++;
      sums.inBodies += has(bodies);
      sums.inSix += has([...bodies, ...lines.slice(0, FIRST_LINES)]);
      sums.bodies += bodies.length;
    } else if (PLAIN.has(kind)) {
      sums.plains++;
      sums.plain += has(bodies);
    }
  }
  const nearIdle = near.filter((scan) => select(scan, weights).bodies.length === 0).length / near.length;
  const found = {
    inBodies: sums.inBodies / sums.paraphrases,
    inSix: sums.inSix / sums.paraphrases,
    plain: sums.plain / sums.plains,
    withoutBody: sums.idle / sums.idles,
    near: nearIdle,
    bodies: sums.bodies / sums.paraphrases,
  };
  return {
    ...found,
    score: 2 * found.inBodies + 2 * found.inSix + 2 * found.plain + 0.1 * found.near - 0.03 * found.bodies,
  };
}

/** The range of each weight in the random search. */
const SPREAD: Readonly<Record<keyof RelevanceWeights, number>> = {
  best: 0.15,
  second: 0.1,
  whole: 0.15,
  // The scale of all others.
  similarity: 0,
  words: 0.7,
  commonSimilarity: 1.5,
  commonWords: 0.7,
  idle: 0.3,
  threshold: 0,
  fewer: 0,
  listed: 0,
  near: 0,
  nearBest: 1,
  beside: 1,
};
const NAMES = Object.keys(SPREAD) as (keyof RelevanceWeights)[];
const TRIALS = 500;
/** Lines are unlimited while the other weights are searched; then the highest floor is taken that loses few right lessons. */
const NO_FLOOR = -20;
const FLOORS = [0, -0.5, -1, -1.5, -2, -2.5, -3, -3.5, -4, -5, -6, -8] as const;
const MOST_LOST = 0.01;

/** A random search around the best weights so far, in ever smaller steps. */
function search(sets: FitSets, start: RelevanceWeights): { best: RelevanceWeights; found: FitScore } {
  const random = createMulberry32(19);
  let best = calibrated(sets, start);
  let found = scoreWeights(sets, best);
  for (let trial = 0; trial < TRIALS; trial++) {
    const reach = 1 - trial / TRIALS;
    const changed = NAMES.filter(() => random() < 0.3);
    const tried = { ...best };
    for (const name of changed)
      Object.assign(tried, { [name]: best[name] + (random() * 2 - 1) * SPREAD[name] * reach });
    const sum = tried.best + tried.second + tried.whole;
    Object.assign(tried, { best: tried.best / sum, second: tried.second / sum, whole: tried.whole / sum });
    if (Math.min(tried.best, tried.second, tried.whole, tried.words, tried.commonWords, tried.nearBest) < 0)
      continue;
    const fair = calibrated(sets, tried);
    const score = scoreWeights(sets, fair);
    if (score.score <= found.score) continue;
    best = fair;
    found = score;
  }
  return { best, found };
}

/**
 * Searches the weights that are best on `tasks`, at random around the best ones so far, from those in use: where the sentence model has
 * read the task, and at a first look. Tasks near to lessons that need none (`near`) count too.
 */
export async function fitWeights(
  tasks: RecallTasks,
  near: RecallTasks,
  embed: EmbeddingModel,
): Promise<string> {
  const asked = createStaticEmbed();
  return [
    await fitFor('by the sentence model', tasks, near, { embed, asked: embed }),
    await fitFor('at a first look', tasks, near, { embed, asked }),
  ].join('\n\n');
}

async function fitFor(
  how: string,
  tasks: RecallTasks,
  near: RecallTasks,
  engines: FitEngines,
): Promise<string> {
  const inUse = engines.asked === engines.embed ? RELEVANCE : FIRST_LOOK;
  const unneeded = near.tasks.filter(({ right }) => right.length === 0);
  const sets: FitSets = {
    ours: await scanTasks(tasks, engines, false),
    stripped: await scanTasks(tasks, engines, true),
    near: await scanTasks({ lessons: near.lessons, tasks: unneeded }, engines, true),
  };
  const before = scoreWeights(sets, { ...inUse, listed: NO_FLOOR });
  let { best, found } = search(sets, { ...inUse, listed: NO_FLOOR });
  for (const listed of FLOORS) {
    const score = scoreWeights(sets, { ...best, listed });
    if (score.inSix < found.inSix - MOST_LOST) continue;
    best = { ...best, listed };
    break;
  }
  const rounded = Object.fromEntries(NAMES.map((name) => [name, Number(best[name].toFixed(2))]));
  const row = (name: string, one: FitScore): readonly string[] => [
    name,
    ...[one.score, one.inBodies, one.inSix, one.plain, one.withoutBody, one.near, one.bodies].map((value) =>
      value.toFixed(3),
    ),
  ];
  return [
    `### Weights ${how}, fitted to the dev split (lessons with triggers and stripped of them)`,
    markdownTable(
      [
        '',
        'score',
        'paraphrases: in a body',
        'or the first 6 lines',
        'plain: in a body',
        'unrelated: no body',
        'near: no body',
        'bodies per paraphrase',
      ],
      [row('in use', before), row('fitted', found)],
    ),
    `\`\`\`\n${JSON.stringify(rounded, null, 2)}\n\`\`\``,
  ].join('\n\n');
}
