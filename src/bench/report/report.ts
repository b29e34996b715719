import {
  CONDITIONS,
  type Condition,
  type LessonSeen,
  type NightSeen,
  type Row,
  type RunHead,
} from '../row.ts';
import { compare, type Difference } from './compare.ts';
import { type Cost, costOf } from './cost.ts';
import { type LessonLife, lessonLives } from './lessons.ts';
import { type Losses, lossesOf } from './losses.ts';
import { isAbout, MEASURES } from './measure.ts';
import { type NightReport, nightsOf } from './nights.ts';
import { orderRows } from './order-rows.ts';
import { remarksOn } from './remarks.ts';
import { type RuleSummary, rulesOf } from './rules.ts';
import { type ConditionSummary, summarise } from './summarise.ts';

/** All that a run shows. Made from its journal and nothing else: the same journal gives the same report. */
export interface Report {
  readonly head: RunHead;
  /** What a reader must know before the numbers, the notes of the head among it. */
  readonly remarks: readonly string[];
  /** Those the run was to have or has rows of. */
  readonly conditions: readonly ConditionSummary[];
  /** Later conditions against earlier ones; the baseline is the first. */
  readonly differences: readonly Difference[];
  readonly costs: readonly Cost[];
  readonly rules: readonly RuleSummary[];
  readonly losses: readonly Losses[];
  readonly lessons: readonly LessonLife[];
  /** Those in which weights were trained or weighed. */
  readonly nights: readonly NightReport[];
}

export interface Journal {
  readonly head: RunHead;
  readonly rows: readonly Row[];
  readonly lessons: readonly LessonSeen[];
  readonly nights: readonly NightSeen[];
}

/** Pure: no clock, no chance (random draws are seeded by what they are for), and the order of rows does not matter. */
export function makeReport({ head, rows: given, lessons, nights }: Journal): Report {
  const { rows, repeated } = orderRows(given);
  const byCondition = new Map<Condition, readonly Row[]>();
  for (const condition of CONDITIONS) {
    const own = rows.filter((row) => row.condition === condition);
    if (own.length > 0 || head.conditions.includes(condition)) byCondition.set(condition, own);
  }
  const conditions = [...byCondition].map(([condition, own]) => summarise(condition, own));
  const rules = rulesOf(head, byCondition);
  const asked = [...byCondition].filter(([, own]) => own.length > 0);
  const couples = asked.flatMap(([against, base], place) =>
    asked.slice(place + 1).map(([of, own]) => ({ names: [of, against] as const, own, base })),
  );
  return {
    head,
    remarks: remarksOn(head, conditions, repeated),
    conditions,
    differences: couples.flatMap(({ names, own, base }) =>
      MEASURES.filter((measure) => rows.some((row) => isAbout(measure, row))).map((measure) =>
        compare(measure, own, base, names),
      ),
    ),
    costs: asked.map(([condition, own]) => costOf(condition, own)),
    rules,
    losses: couples
      .filter(({ names: [, against] }) => against === 'baseline')
      .map(({ names, own, base }) => lossesOf(names, own, base, rules)),
    lessons: lessonLives(lessons, rows),
    nights: nightsOf(nights),
  };
}
