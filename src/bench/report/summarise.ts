import type { Condition, Row } from '../row.ts';
import { type Figure, figureOf, smallFigureOf } from './figure.ts';
import { gradeOf, type Measure } from './measure.ts';
import { arcsOf, compareText } from './order-rows.ts';

export type Figures = Readonly<Record<Measure, Figure>>;

/** What one condition came to. */
export interface ConditionSummary extends Figures {
  readonly condition: Condition;
  readonly asked: number;
  readonly graded: number;
  readonly seeds: readonly number[];
  /** Why questions could not be graded, with how many, most first. */
  readonly ungraded: readonly { readonly why: string; readonly questions: number }[];
  /** The accuracy if everything that could not be graded were wrong, and if it were right. */
  readonly accuracyBounds?: { readonly low: number; readonly high: number };
  readonly days: readonly DayFigures[];
  readonly types: readonly {
    readonly kind: Row['kind'];
    readonly accuracy: Figure;
    readonly passed: Figure;
  }[];
  readonly arcs: readonly { readonly arc: string; readonly accuracy: Figure; readonly completion: Figure }[];
}

/** A day over all seeds. */
export interface DayFigures extends Figures {
  readonly day: number;
  /** Over this day and the two before it, as far as there are any. */
  readonly rolling: Figures;
}

const ROLLING_DAYS = 3;

/** `rows` are those of the condition, in order. */
export function summarise(condition: Condition, rows: readonly Row[]): ConditionSummary {
  const grades = rows.flatMap((row) => gradeOf('accuracy', row) ?? []);
  const right = grades.reduce((all, grade) => all + grade, 0);
  return {
    condition,
    asked: rows.length,
    graded: grades.length,
    seeds: [...new Set(rows.map(({ seed }) => seed))],
    ...figures((measure) => figureOf(rows, measure)),
    ungraded: reasons(rows),
    ...(rows.length === 0
      ? {}
      : {
          accuracyBounds: {
            low: right / rows.length,
            high: (right + rows.length - grades.length) / rows.length,
          },
        }),
    days: days(rows),
    types: types(rows),
    arcs: arcs(rows),
  };
}

const figures = (of: (measure: Measure) => Figure): Figures => ({
  accuracy: of('accuracy'),
  completion: of('completion'),
  exact: of('exact'),
});

function reasons(rows: readonly Row[]): ConditionSummary['ungraded'] {
  const counts = new Map<string, number>();
  for (const row of rows) {
    const why = row.why ?? 'no reason given';
    if (gradeOf('accuracy', row) === undefined) counts.set(why, (counts.get(why) ?? 0) + 1);
  }
  return [...counts]
    .map(([why, questions]) => ({ why, questions }))
    .sort((a, b) => b.questions - a.questions || compareText(a.why, b.why));
}

function days(rows: readonly Row[]): readonly DayFigures[] {
  const seen = [...new Set(rows.map(({ day }) => day))].sort((a, b) => a - b);
  return seen.map((day) => {
    const today = rows.filter((row) => row.day === day);
    const lately = rows.filter((row) => row.day <= day && row.day > day - ROLLING_DAYS);
    return {
      day,
      ...figures((measure) => smallFigureOf(today, measure)),
      rolling: figures((measure) => smallFigureOf(lately, measure)),
    };
  });
}

const types = (rows: readonly Row[]): ConditionSummary['types'] =>
  (['choice', 'files'] as const).flatMap((kind) => {
    const ofKind = rows.filter((row) => row.kind === kind);
    if (ofKind.length === 0) return [];
    const passing = kind === 'choice' ? 'exact' : 'completion';
    return [
      {
        kind,
        accuracy: figureOf(ofKind, 'accuracy'),
        passed: figureOf(ofKind, passing),
      },
    ];
  });

const arcs = (rows: readonly Row[]): ConditionSummary['arcs'] =>
  arcsOf(rows).map((arc) => {
    const within = rows.filter((row) => row.arc === arc);
    return {
      arc,
      accuracy: smallFigureOf(within, 'accuracy'),
      completion: smallFigureOf(within, 'completion'),
    };
  });
