import type { Pair } from './pairs.ts';

/** Returns the lessons for a task, best first. */
export type Method = (query: string) => Promise<readonly string[]>;

export interface Quality {
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

export async function scorePairs(
  name: string,
  method: Method,
  pairs: readonly Pair[],
  k: number,
): Promise<Quality> {
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
