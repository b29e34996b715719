import { armOf, CONDITIONS, type Condition } from '../suites/arms.ts';
import type {
  DayOfLearning,
  LessonRecord,
  NightRecord,
  QuestionRecord,
  RunHead,
} from '../suites/run-records.ts';
import { type ArmReport, makeArmReport } from './arm-report.ts';
import { compareConditions, type QuestionDifference } from './compare-conditions.ts';
import { type ConditionSummary, summariseCondition } from './condition-summary.ts';
import { FEWEST_SEEDS } from './difference.ts';
import { type NightReport, reportNights } from './nights.ts';
import { count, counted, percent } from './numbers.ts';
import { isAbout, orderRows, QUESTION_MEASURES } from './question-rows.ts';
import { type RuleSummary, summariseRules } from './rules.ts';

/** Everything that a run of a question suite shows. Made from its journal alone: the same journal gives the same report. */
export interface QuestionReport {
  readonly head: RunHead;
  /** What a reader must know before the numbers, the notes of the head among it. */
  readonly remarks: readonly string[];
  /** The conditions that were planned or have rows. */
  readonly conditions: readonly ConditionSummary[];
  /** Each arm against those that it is to be compared with; the baseline is the first. */
  readonly differences: readonly QuestionDifference[];
  readonly costs: readonly QuestionCost[];
  readonly rules: readonly RuleSummary[];
  /** Nights in which weights were trained or measured. */
  readonly nights: readonly NightReport[];
  /** By the definitions that the suite was published with; empty for our own suites. */
  readonly official: readonly OfficialScores[];
  readonly arms: ArmReport;
}

export interface QuestionJournal {
  readonly head: RunHead;
  readonly rows: readonly QuestionRecord[];
  readonly lessons: readonly LessonRecord[];
  readonly nights: readonly NightRecord[];
  readonly learning?: readonly DayOfLearning[];
}

/** Pure: no clock, random draws have fixed seeds, and the order of the rows does not matter. */
export function makeQuestionReport(journal: QuestionJournal): QuestionReport {
  const { head, nights } = journal;
  const { rows, repeated } = orderRows(journal.rows);
  const byCondition = new Map<Condition, readonly QuestionRecord[]>();
  for (const condition of CONDITIONS) {
    const own = rows.filter((row) => row.condition === condition);
    if (own.length > 0 || head.conditions.includes(condition)) byCondition.set(condition, own);
  }
  const conditions = [...byCondition].map(([condition, own]) => summariseCondition(condition, own));
  const asked = [...byCondition].filter(([, own]) => own.length > 0);
  const couples = asked.flatMap(([against, base], place) =>
    asked
      .slice(place + 1)
      .filter(([of]) => armOf(of).against.includes(against))
      .map(([of, own]) => ({ names: [of, against] as const, own, base })),
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
    costs: asked.map(([condition, own]) => questionCost(condition, own, journal)),
    rules: summariseRules(head, byCondition),
    nights: reportNights(nights),
    official: officialScores(byCondition),
    arms: makeArmReport(head, byCondition),
  };
}

/** Means by the definitions of the harness that a suite was published with. Shares; undefined where nothing counts. */
interface OfficialScores {
  readonly condition: Condition;
  readonly accuracy: number | undefined;
  readonly completion: number | undefined;
  /** The formula of the paper, which stops at 0 where the harness counts below it. */
  readonly paperAccuracy: number | undefined;
  /** Questions with an official score. */
  readonly scored: number;
}

/** Empty for a suite that was not published with a harness. */
const officialScores = (
  byCondition: ReadonlyMap<Condition, readonly QuestionRecord[]>,
): readonly OfficialScores[] =>
  [...byCondition].flatMap(([condition, rows]) => {
    const scores = rows.flatMap(({ official, kind }) => (official === undefined ? [] : [{ official, kind }]));
    if (scores.length === 0) return [];
    const files = scores.filter(({ kind }) => kind === 'files');
    return [
      {
        condition,
        accuracy: mean(scores.map(({ official }) => official)),
        completion: mean(files.map(({ official }) => official)),
        paperAccuracy: mean(scores.map(({ official }) => Math.max(0, official))),
        scored: scores.length,
      },
    ];
  });

const mean = (values: readonly number[]): number | undefined =>
  values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length;

/** What a condition cost in total, with the gateway's overhead for a question. */
interface QuestionCost {
  readonly condition: Condition;
  readonly questions: number;
  readonly usd: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly steps: number;
  readonly ms: number;
  /** Time outside the policy: what learning and the gateway add. */
  readonly overheadMs: { readonly total: number; readonly median: number; readonly p95: number };
  /** Time and sampled tokens of training; calls and tokens of the models that write lessons. */
  readonly trainingMs: number;
  readonly trainingTokens: number;
  readonly learningCalls: number;
  readonly learningTokens: number;
}

/** Ungraded questions cost as much as graded ones and are included. */
function questionCost(
  condition: Condition,
  rows: readonly QuestionRecord[],
  { nights, learning = [] }: QuestionJournal,
): QuestionCost {
  const isOwn = (one: { readonly condition: Condition }): boolean => one.condition === condition;
  const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);
  const [trained, learned] = [nights.filter(isOwn), learning.filter(isOwn)];
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
    trainingMs: sum(trained.map(({ ms }) => ms)),
    trainingTokens: sum(trained.map(({ tokens = 0 }) => tokens)),
    learningCalls: sum(learned.map(({ calls }) => calls)),
    learningTokens: sum(learned.map(({ tokens }) => tokens)),
  };
}

function remarksOn(
  head: RunHead,
  conditions: readonly ConditionSummary[],
  repeated: number,
): readonly string[] {
  const out: string[] = [...head.notes, ...remarksOnArms(head, conditions)];
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

/** What must not be overlooked about the arms of a run. */
function remarksOnArms(head: RunHead, conditions: readonly ConditionSummary[]): readonly string[] {
  const has = (name: Condition): boolean => conditions.some(({ condition }) => condition === name);
  return [
    ...(head.arms === undefined
      ? [
          'A run of an earlier version: in the short form its baseline saw no earlier feedback, and its rules may have been seen in pre-training. Do not compare it with newer runs.',
        ]
      : []),
    ...(has('full-oracle')
      ? [
          "full-oracle has oracle rewards: the suite's hidden checks on generated tasks. No deployment has them; full is the arm with deployable rewards.",
        ]
      : []),
  ];
}
