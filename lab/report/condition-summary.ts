import type { Condition } from '../suites/arms.ts';
import type { QuestionRecord } from '../suites/run-records.ts';
import type { BlockSum } from './block-bootstrap.ts';
import { type Figure, meanFigure, shareFigure } from './numbers.ts';
import { blockKey, compareText, gradeOf, isAbout, type QuestionMeasure } from './question-rows.ts';

export type QuestionFigures = Readonly<Record<QuestionMeasure, Figure>>;

/** The results of one condition. */
export interface ConditionSummary extends QuestionFigures {
  readonly condition: Condition;
  readonly asked: number;
  readonly graded: number;
  readonly seeds: readonly number[];
  /** Why questions could not be graded, the most frequent reason first. */
  readonly ungraded: readonly { readonly why: string; readonly questions: number }[];
  /** The accuracy if every ungraded question were wrong, and if it were right. */
  readonly accuracyBounds?: { readonly low: number; readonly high: number };
  readonly days: readonly DayFigures[];
}

/** A day over all seeds. */
interface DayFigures extends QuestionFigures {
  readonly day: number;
}

/** `rows` are those of the condition, in order. */
export function summariseCondition(condition: Condition, rows: readonly QuestionRecord[]): ConditionSummary {
  const grades = rows.flatMap((row) => gradeOf('accuracy', row) ?? []);
  const right = grades.reduce((all, grade) => all + grade, 0);
  return {
    condition,
    asked: rows.length,
    graded: grades.length,
    seeds: [...new Set(rows.map(({ seed }) => seed))],
    ...figures((measure) => resampledFigure(rows, measure)),
    ungraded: ungradedReasons(rows),
    ...(rows.length === 0
      ? {}
      : {
          accuracyBounds: {
            low: right / rows.length,
            high: (right + rows.length - grades.length) / rows.length,
          },
        }),
    days: daysOf(rows),
  };
}

const figures = (of: (measure: QuestionMeasure) => Figure): QuestionFigures => ({
  accuracy: of('accuracy'),
  completion: of('completion'),
  exact: of('exact'),
});

/** With an interval from resampling days of runs. */
function resampledFigure(rows: readonly QuestionRecord[], measure: QuestionMeasure): Figure {
  const { blocks, ungraded } = blocksOf(rows, measure);
  return meanFigure(blocks, { low: 0, high: 1 }, ungraded);
}

/**
 * With a Wilson interval, for parts that are too small to resample, such as one day. It is a little too wide for scores between
 * 0 and 1, and a little too narrow for dependent questions; no claim rests on it.
 */
function independentFigure(rows: readonly QuestionRecord[], measure: QuestionMeasure): Figure {
  const { blocks, ungraded } = blocksOf(rows, measure);
  const total = (of: (block: BlockSum) => number): number =>
    blocks.reduce((all, block) => all + of(block), 0);
  return shareFigure(
    total(({ sum }) => sum),
    total(({ n }) => n),
    ungraded,
  );
}

function blocksOf(
  rows: readonly QuestionRecord[],
  measure: QuestionMeasure,
): { readonly blocks: readonly BlockSum[]; readonly ungraded: number } {
  const blocks = new Map<string, BlockSum>();
  let ungraded = 0;
  for (const row of rows) {
    if (!isAbout(measure, row)) continue;
    const value = gradeOf(measure, row);
    if (value === undefined) {
      ungraded++;
      continue;
    }
    const { sum, n } = blocks.get(blockKey(row)) ?? { sum: 0, n: 0 };
    blocks.set(blockKey(row), { sum: sum + value, n: n + 1 });
  }
  return { blocks: [...blocks.values()], ungraded };
}

function ungradedReasons(rows: readonly QuestionRecord[]): ConditionSummary['ungraded'] {
  const counts = new Map<string, number>();
  for (const row of rows) {
    const why = row.why ?? 'no reason given';
    if (gradeOf('accuracy', row) === undefined) counts.set(why, (counts.get(why) ?? 0) + 1);
  }
  return [...counts]
    .map(([why, questions]) => ({ why, questions }))
    .sort((a, b) => b.questions - a.questions || compareText(a.why, b.why));
}

function daysOf(rows: readonly QuestionRecord[]): readonly DayFigures[] {
  const days = [...new Set(rows.map(({ day }) => day))].sort((a, b) => a - b);
  return days.map((day) => {
    const today = rows.filter((row) => row.day === day);
    return { day, ...figures((measure) => independentFigure(today, measure)) };
  });
}
