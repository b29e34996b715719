import { comparePairs, type Difference, type SeedPair } from '../../report/difference.ts';
import { type Figure, type MeasureWords, meanFigure } from '../../report/numbers.ts';
import type { ArmRow, PracticeArm } from './arms.ts';

export type PracticeMeasure = 'rules' | 'tasks';

export const PRACTICE_MEASURES: Readonly<Record<PracticeMeasure, MeasureWords<PracticeMeasure>>> = {
  rules: {
    measure: 'rules',
    title: 'rules kept',
    better: 'more',
    unit: 'share',
  },
  tasks: {
    measure: 'tasks',
    title: 'tasks complete',
    better: 'more',
    unit: 'share',
  },
};

/** An arm's share with its interval; a task of a seed is one block. */
export function armFigure(measure: PracticeMeasure, rows: readonly ArmRow[]): Figure {
  const blocks = rows.map((row) =>
    measure === 'tasks'
      ? { sum: Number(row.isComplete), n: 1 }
      : { sum: row.kept.length, n: row.rules.length },
  );
  return meanFigure(blocks, { low: 0, high: 1 });
}

/** Two arms on the same tasks. */
export function compareArms(
  measure: PracticeMeasure,
  rows: readonly ArmRow[],
  treatment: PracticeArm,
  control: PracticeArm,
): Difference<PracticeMeasure> {
  const controls = new Map(rows.filter(({ arm }) => arm === control).map((row) => [blockOf(row), row]));
  const pairs = rows.flatMap((row): readonly SeedPair[] => {
    const other = row.arm === treatment ? controls.get(blockOf(row)) : undefined;
    if (other === undefined) return [];
    const pair = { block: blockOf(row), seed: row.seed };
    if (measure === 'tasks') return [{ ...pair, a: Number(row.isComplete), b: Number(other.isComplete) }];
    const keeps = ({ kept }: ArmRow, rule: string): number => Number(kept.includes(rule));
    return row.rules.map((rule) => ({ ...pair, a: keeps(row, rule), b: keeps(other, rule) }));
  });
  return comparePairs(PRACTICE_MEASURES[measure], pairs, { seed: `${treatment}/${control}/${measure}` });
}

const blockOf = ({ seed, task }: ArmRow): string => `${seed}/${task}`;

/** Tasks of which more or fewer rules were kept than under the control; not done counts as none kept. */
export function countChanges(
  rows: readonly ArmRow[],
  treatment: PracticeArm,
  control: PracticeArm,
): { readonly better: number; readonly worse: number } {
  const controls = new Map(rows.filter(({ arm }) => arm === control).map((row) => [blockOf(row), row]));
  const scoreOf = ({ isDone, kept }: ArmRow): number => Number(isDone) + kept.length;
  const changes = rows.flatMap((row) => {
    const other = row.arm === treatment ? controls.get(blockOf(row)) : undefined;
    return other === undefined ? [] : [scoreOf(row) - scoreOf(other)];
  });
  return {
    better: changes.filter((change) => change > 0).length,
    worse: changes.filter((change) => change < 0).length,
  };
}
