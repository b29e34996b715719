import {
  CONDITIONS,
  type Condition,
  type LessonRecord,
  type NightRecord,
  type QuestionRecord,
  type RunHead,
} from '../../suite/run-records.ts';
import {
  comparePairs,
  type Difference,
  type Explanation,
  explainPairs,
  FEWEST_SEEDS,
  type SeedPair,
} from '../difference.ts';
import type { MeasureWords } from '../figure.ts';
import { count, counted, percent, points } from '../format-numbers.ts';
import { type LessonLife, lessonLives } from '../lessons.ts';
import { type RuleSummary, summariseRules } from '../rules.ts';
import { type ConditionSummary, summariseCondition } from './condition-summary.ts';
import { type NightReport, reportNights } from './nights.ts';
import { officialScores } from './official-scores.ts';
import { findQuestionLosses, type QuestionLosses } from './question-losses.ts';
import {
  blockKey,
  gradeOf,
  isAbout,
  orderRows,
  QUESTION_MEASURES,
  type QuestionMeasure,
  questionKey,
} from './question-rows.ts';

/** Everything that a run of a question suite shows. Made from its journal alone: the same journal gives the same report. */
export interface QuestionReport {
  readonly head: RunHead;
  /** What a reader must know before the numbers, the notes of the head among it. */
  readonly remarks: readonly string[];
  /** The conditions that were planned or have rows. */
  readonly conditions: readonly ConditionSummary[];
  /** Later conditions against earlier ones; the baseline is the first. */
  readonly differences: readonly QuestionDifference[];
  readonly costs: readonly QuestionCost[];
  readonly rules: readonly RuleSummary[];
  readonly losses: readonly QuestionLosses[];
  readonly lessons: readonly LessonLife[];
  /** Nights in which weights were trained or measured. */
  readonly nights: readonly NightReport[];
  /** By the definitions that the suite was published with; empty for our own suites. */
  readonly official: ReturnType<typeof officialScores>;
}

export interface QuestionJournal {
  readonly head: RunHead;
  readonly rows: readonly QuestionRecord[];
  readonly lessons: readonly LessonRecord[];
  readonly nights: readonly NightRecord[];
}

/** Pure: no clock, random draws have fixed seeds, and the order of the rows does not matter. */
export function makeQuestionReport({ head, rows: given, lessons, nights }: QuestionJournal): QuestionReport {
  const { rows, repeated } = orderRows(given);
  const byCondition = new Map<Condition, readonly QuestionRecord[]>();
  for (const condition of CONDITIONS) {
    const own = rows.filter((row) => row.condition === condition);
    if (own.length > 0 || head.conditions.includes(condition)) byCondition.set(condition, own);
  }
  const conditions = [...byCondition].map(([condition, own]) => summariseCondition(condition, own));
  const rules = summariseRules(head, byCondition);
  const asked = [...byCondition].filter(([, own]) => own.length > 0);
  const couples = asked.flatMap(([against, base], place) =>
    asked.slice(place + 1).map(([of, own]) => ({ names: [of, against] as const, own, base })),
  );
  return {
    head,
    remarks: remarksOn(head, conditions, repeated),
    conditions,
    differences: couples.flatMap(({ names, own, base }) =>
      QUESTION_MEASURES.filter(({ measure }) => rows.some((row) => isAbout(measure, row))).map((words) =>
        compareConditions(words, own, base, names),
      ),
    ),
    costs: asked.map(([condition, own]) => questionCost(condition, own)),
    rules,
    losses: couples
      .filter(({ names: [, against] }) => against === 'baseline')
      .map(({ names, own, base }) => findQuestionLosses(names, own, base, rules)),
    lessons: lessonLives(lessons, rows),
    nights: reportNights(nights),
    official: officialScores(byCondition),
  };
}

/** The last day of any question or lesson, counted from 0; undefined where there is none. */
export function lastDay({
  conditions,
  lessons,
}: Pick<QuestionReport, 'conditions' | 'lessons'>): number | undefined {
  const days = [
    ...conditions.flatMap((condition) => condition.days.map(({ day }) => day)),
    ...lessons.map((lesson) => lesson.lastDay),
  ];
  return days.length === 0 ? undefined : Math.max(...days);
}

/** Two conditions on the questions that both were asked. */
export interface QuestionDifference extends Difference<QuestionMeasure> {
  readonly of: Condition;
  readonly against: Condition;
  /** Questions that only one of the two was asked, and pairs of which one side could not be graded. */
  readonly leftOut: { readonly onlyOf: number; readonly onlyAgainst: number; readonly ungraded: number };
  /** The difference if every ungraded side counted against the claim: 0 for the better condition, 1 for the other. */
  readonly worstCase?: number;
}

/** Both in order. */
export function compareConditions(
  words: MeasureWords<QuestionMeasure>,
  own: readonly QuestionRecord[],
  base: readonly QuestionRecord[],
  [of, against]: readonly [Condition, Condition],
): QuestionDifference {
  const { measure } = words;
  const { pairs, halves, leftOut } = matchRows(measure, own, base);
  const difference = comparePairs(words, pairs, { seed: `${measure}/${of}/${against}` });
  const worst = worstCase(pairs, halves, difference.mean);
  return { ...difference, of, against, leftOut, ...(worst === undefined ? {} : { worstCase: worst }) };
}

interface HalfPair {
  readonly a?: number;
  readonly b?: number;
}

function matchRows(
  measure: QuestionMeasure,
  own: readonly QuestionRecord[],
  base: readonly QuestionRecord[],
): {
  readonly pairs: readonly SeedPair[];
  /** Pairs of which at least one side has no grade. */
  readonly halves: readonly HalfPair[];
  readonly leftOut: QuestionDifference['leftOut'];
} {
  const others = new Map(base.filter((row) => isAbout(measure, row)).map((row) => [questionKey(row), row]));
  const pairs: SeedPair[] = [];
  const halves: HalfPair[] = [];
  let onlyOf = 0;
  for (const row of own) {
    if (!isAbout(measure, row)) continue;
    const other = others.get(questionKey(row));
    if (other === undefined) {
      onlyOf++;
      continue;
    }
    const a = gradeOf(measure, row);
    const b = gradeOf(measure, other);
    if (a !== undefined && b !== undefined) pairs.push({ seed: row.seed, block: blockKey(row), a, b });
    else halves.push({ ...(a === undefined ? {} : { a }), ...(b === undefined ? {} : { b }) });
  }
  const both = pairs.length + halves.length;
  return { pairs, halves, leftOut: { onlyOf, onlyAgainst: others.size - both, ungraded: halves.length } };
}

function worstCase(
  pairs: readonly SeedPair[],
  halves: readonly HalfPair[],
  mean: number | undefined,
): number | undefined {
  if (mean === undefined || halves.length === 0) return undefined;
  const [leader, other] = mean >= 0 ? [0, 1] : [1, 0];
  const graded = pairs.reduce((all, { a, b }) => all + (a - b), 0);
  const ungraded = halves.reduce((all, { a = leader, b = other }) => all + (a - b), 0);
  return (graded + ungraded) / (pairs.length + halves.length);
}

export function explainQuestionDifference(difference: QuestionDifference): Explanation {
  const { verdict, mean = 0, of, against, leftOut, worstCase: worst } = difference;
  const missing: string[] = [];
  const unpaired = leftOut.onlyOf + leftOut.onlyAgainst;
  if (unpaired > 0)
    missing.push(`${counted(unpaired, 'question')} left out: asked under one of the two conditions only`);
  if (leftOut.ungraded > 0) {
    const isUndone = verdict !== 'cannot say' && worst !== undefined && worst * mean <= 0;
    const atWorst =
      worst === undefined
        ? ''
        : `; in the worst case the difference is ${points(worst)}${isUndone ? ', which would undo the claim' : ''}`;
    missing.push(`${counted(leftOut.ungraded, 'pair')} left out: one side could not be graded${atWorst}`);
  }
  return explainPairs(difference, {
    words: questionMeasure(difference.measure),
    of,
    against,
    block: ['day of runs', 'days of runs'],
    leftOut: missing,
  });
}

export function questionMeasure(measure: QuestionMeasure): MeasureWords<QuestionMeasure> {
  const found = QUESTION_MEASURES.find((words) => words.measure === measure);
  if (found === undefined) throw new Error(`unknown measure ${measure}`);
  return found;
}

/** What a condition cost in total, with the gateway's overhead for a question. */
export interface QuestionCost {
  readonly condition: Condition;
  readonly questions: number;
  readonly usd: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly steps: number;
  readonly ms: number;
  /** Time outside the policy: what learning and the gateway add. */
  readonly overheadMs: { readonly total: number; readonly median: number; readonly p95: number };
}

/** Ungraded questions cost as much as graded ones and are included. */
function questionCost(condition: Condition, rows: readonly QuestionRecord[]): QuestionCost {
  const total = (of: (row: QuestionRecord) => number): number => rows.reduce((all, row) => all + of(row), 0);
  const overheads = rows.map(({ overheadMs }) => overheadMs).sort((a, b) => a - b);
  const at = (share: number): number => overheads[Math.max(0, Math.ceil(share * overheads.length) - 1)] ?? 0;
  return {
    condition,
    questions: rows.length,
    usd: total(({ usd }) => usd),
    inputTokens: total(({ inputTokens }) => inputTokens),
    outputTokens: total(({ outputTokens }) => outputTokens),
    steps: total(({ steps }) => steps),
    ms: total(({ ms }) => ms),
    overheadMs: { total: total(({ overheadMs }) => overheadMs), median: at(0.5), p95: at(0.95) },
  };
}

function remarksOn(
  head: RunHead,
  conditions: readonly ConditionSummary[],
  repeated: number,
): readonly string[] {
  const out: string[] = [...head.notes];
  if (head.options.form === 'short')
    out.push('Short form of the questions: do not compare with runs of the full form.');
  if (conditions.every(({ asked }) => asked === 0)) return [...out, 'No question has been asked yet.'];
  const expected = head.questions * head.seeds.length;
  for (const { condition, asked, graded, accuracyBounds, seeds } of conditions) {
    if (asked === 0) out.push(`${condition}: no question was asked.`);
    else if (asked < expected)
      out.push(
        `${condition}: ${count(asked)} of ${counted(expected, 'question')} were asked, in ${counted(seeds.length, 'seed')} of ${head.seeds.length}; the run was interrupted or is still going.`,
      );
    if (asked > 0 && graded === 0) out.push(`${condition}: no question could be graded.`);
    else if (graded < asked && accuracyBounds !== undefined)
      out.push(
        `${condition}: ${counted(asked - graded, 'question')} of ${count(asked)} could not be graded and count neither as right nor as wrong; with them the accuracy would be between ${percent(accuracyBounds.low)} and ${percent(accuracyBounds.high)}.`,
      );
  }
  if (repeated > 0)
    out.push(
      `${counted(repeated, 'line')} of the journal ${repeated === 1 ? 'repeats' : 'repeat'} a question that was answered before; each question counts once.`,
    );
  const seeds = new Set(conditions.flatMap((condition) => condition.seeds)).size;
  if (seeds > 0 && seeds < FEWEST_SEEDS)
    out.push(`${counted(seeds, 'seed')}: fewer than ${FEWEST_SEEDS} say little about the next run.`);
  return out;
}
