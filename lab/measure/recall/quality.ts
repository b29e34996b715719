import { readFileSync } from 'node:fs';
import type { EmbeddingModel } from '../../../src/core/recall.ts';
import { createNgramEmbed } from '../../../src/embed/ngram-embed.ts';
import { createBm25Index } from '../../../src/lessons/recall/bm25-index.ts';
import { cleanQuery } from '../../../src/lessons/recall/clean-query.ts';
import { createRecall } from '../../../src/lessons/recall/recall.ts';
import { markdownTable } from '../markdown.ts';
import { createLiveSkill, type PairLesson } from './synthetic.ts';

/** A task and its relevant lessons, if any. */
interface RecallPair {
  readonly query: string;
  readonly right: readonly string[];
  readonly split?: 'dev' | 'test';
}

interface RecallPairs {
  readonly lessons: readonly PairLesson[];
  readonly pairs: readonly RecallPair[];
}

/** Reads a file of pairs: the lessons in the first line, then one task per line. With `split`, only the tasks of that part. */
export function readPairs(file: string, split?: 'dev' | 'test'): RecallPairs {
  const [first = '{}', ...rest] = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const { lessons } = JSON.parse(first) as { readonly lessons: readonly PairLesson[] };
  const pairs = rest.map((line) => JSON.parse(line) as RecallPair);
  return { lessons, pairs: split === undefined ? pairs : pairs.filter((pair) => pair.split === split) };
}

/** Returns the lessons for a task, best first. */
type RecallMethod = (query: string) => Promise<readonly string[]>;

interface RecallQuality {
  readonly method: string;
  /** The share of relevant lessons among all shown, tasks without a relevant lesson included. */
  readonly precision: number;
  /** The share of a task's relevant lessons that were shown; the mean over tasks. */
  readonly recall: number;
  readonly f1: number;
  readonly ndcg: number;
  /** Of the tasks without a relevant lesson, the share for which nothing was shown. */
  readonly silence: number;
  /** Lessons shown per task with a relevant lesson. */
  readonly shown: number;
}

async function scorePairs(
  name: string,
  method: RecallMethod,
  pairs: readonly RecallPair[],
  k: number,
): Promise<RecallQuality> {
  let shown = 0;
  let hits = 0;
  let shownWhereRight = 0;
  const recalls: number[] = [];
  const gains: number[] = [];
  const silences: number[] = [];
  for (const { query, right } of pairs) {
    const ids = (await method(query)).slice(0, k);
    const found = ids.filter((id) => right.includes(id)).length;
    shown += ids.length;
    hits += found;
    if (right.length === 0) silences.push(ids.length === 0 ? 1 : 0);
    else {
      shownWhereRight += ids.length;
      recalls.push(found / right.length);
      gains.push(ndcgOf(ids, right, k));
    }
  }
  const precision = shown === 0 ? 1 : hits / shown;
  const recall = mean(recalls);
  return {
    method: name,
    precision,
    recall,
    f1: precision + recall === 0 ? 0 : (2 * precision * recall) / (precision + recall),
    ndcg: mean(gains),
    silence: mean(silences),
    shown: shownWhereRight / Math.max(1, recalls.length),
  };
}

function ndcgOf(ids: readonly string[], right: readonly string[], k: number): number {
  const gain = (at: number): number => 1 / Math.log2(at + 2);
  const found = ids.reduce((sum, id, at) => sum + (right.includes(id) ? gain(at) : 0), 0);
  const ideal = right.slice(0, k).reduce((sum, _, at) => sum + gain(at), 0);
  return ideal === 0 ? 0 : found / ideal;
}

const mean = (values: readonly number[]): number =>
  values.length === 0 ? Number.NaN : values.reduce((sum, value) => sum + value, 0) / values.length;

/** The best threshold of each simple method on the dev part of our pairs, by F1 plus half the silence. */
const BM25_THRESHOLD = 1.25;
const COSINE_THRESHOLD = 0.425;

const NO_BUDGET = 1_000_000;
const PATIENT_MS = 60_000;

/** The gateway's own recall. */
async function instarMethod(
  lessons: readonly PairLesson[],
  embed: EmbeddingModel,
  k: number,
): Promise<RecallMethod> {
  const index = createRecall({
    embed,
    fallback: createNgramEmbed(),
    limits: { topK: k, tokenBudget: NO_BUDGET },
    patienceMs: PATIENT_MS,
  });
  await index.update(lessons.map((lesson) => createLiveSkill(lesson)));
  await index.settled();
  return async (text) => {
    const { considered } = await index.recall({ text, session: 'bench', agent: 'bench' }, 0);
    return considered.filter(({ verdict }) => verdict === 'shown').map(({ id }) => id);
  };
}

/** BM25 over name, description and content. */
function bm25Method(lessons: readonly PairLesson[], threshold: number): RecallMethod {
  const index = createBm25Index();
  for (const [slot, lesson] of lessons.entries())
    index.add(slot, { head: headOf(lesson), body: lesson.content });
  return async (text) => {
    const scores = new Float32Array(lessons.length);
    for (const term of index.terms(cleanQuery(text))) index.score(term, scores);
    return ranked(lessons, scores, threshold);
  };
}

/** Cosine similarity of the embeddings of name and description. */
async function cosineMethod(
  lessons: readonly PairLesson[],
  embed: EmbeddingModel,
  threshold: number,
): Promise<RecallMethod> {
  const vectors = await embed.embed(lessons.map(headOf));
  return async (text) => {
    const [query] = await embed.embed([cleanQuery(text)]);
    const dot = (vector: Float32Array): number =>
      vector.reduce((sum, value, at) => sum + value * (query?.[at] ?? 0), 0);
    return ranked(lessons, Float32Array.from(vectors, dot), threshold);
  };
}

const headOf = ({ name, description }: PairLesson): string => `${name.replaceAll('-', ' ')}. ${description}`;

const ranked = (lessons: readonly PairLesson[], scores: Float32Array, threshold: number): readonly string[] =>
  [...scores.keys()]
    .filter((at) => (scores[at] ?? 0) >= threshold)
    .sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0))
    .map((at) => lessons[at]?.id ?? '');

/** The most lessons a method may show. */
const K = 5;

/** Scores our recall and the two simple methods on tasks whose relevant lessons are known. */
export async function measureQuality(
  { lessons, pairs }: RecallPairs,
  embed: EmbeddingModel,
): Promise<readonly RecallQuality[]> {
  return [
    await scorePairs('Instar', await instarMethod(lessons, embed, K), pairs, K),
    await scorePairs('BM25 alone', bm25Method(lessons, BM25_THRESHOLD), pairs, K),
    await scorePairs('embeddings alone', await cosineMethod(lessons, embed, COSINE_THRESHOLD), pairs, K),
  ];
}

export function reportQuality(
  title: string,
  { lessons, pairs }: RecallPairs,
  found: readonly RecallQuality[],
): string {
  const without = pairs.filter(({ right }) => right.length === 0).length;
  return [
    `### ${title}: ${lessons.length} lessons, ${pairs.length - without} tasks with relevant ones, ${without} without`,
    markdownTable(
      [
        '',
        'precision',
        'recall',
        'F1',
        `nDCG@${K}`,
        'nothing shown where nothing is relevant',
        'shown per task',
      ],
      found.map(({ method, precision, recall, f1, ndcg, silence, shown }) => [
        method,
        ...[precision, recall, f1, ndcg, silence].map((value) => value.toFixed(3)),
        shown.toFixed(2),
      ]),
    ),
  ].join('\n\n');
}
