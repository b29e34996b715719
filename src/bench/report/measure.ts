import type { Row } from '../row.ts';

/** `accuracy`: the mean score. `completion`: file tasks with every check passed. `exact`: choices that are exactly right. */
export type Measure = 'accuracy' | 'completion' | 'exact';
export const MEASURES: readonly Measure[] = ['accuracy', 'completion', 'exact'];

export const MEASURE_TITLES: Readonly<Record<Measure, string>> = {
  accuracy: 'accuracy',
  completion: 'completion',
  exact: 'exact match',
};

/** Whether the measure is about such a question at all. */
export const isAbout = (measure: Measure, { kind }: Row): boolean =>
  measure === 'accuracy' || kind === (measure === 'completion' ? 'files' : 'choice');

/** 0 … 1, or undefined when the question could not be graded; that is neither right nor wrong. */
export function gradeOf(measure: Measure, { score, passed }: Row): number | undefined {
  if (score === undefined || !Number.isFinite(score)) return undefined;
  if (measure === 'accuracy') return Math.max(0, Math.min(1, score));
  return passed === undefined ? undefined : Number(passed);
}
