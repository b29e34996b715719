import { ARMS, type Arm, armOf, type Condition } from '../suites/arms.ts';
import type { HeadRule, QuestionRecord, RunHead } from '../suites/run-records.ts';
import { compareConditions, type QuestionDifference, questionMeasure } from './compare-conditions.ts';
import { type Figure, meanFigure } from './numbers.ts';
import { blockKey, compareText, QUESTION_MEASURES } from './question-rows.ts';

/** What a run shows about its arms beyond their results. */
export interface ArmReport {
  /** The arms of the run: what each gives and withholds. */
  readonly arms: readonly Arm[];
  /** Each arm against the baseline on work that needs no lesson: no rule applies to it. */
  readonly interference: readonly QuestionDifference[];
  readonly forms: readonly FormSummary[];
  readonly sources: readonly SourceSummary[];
  readonly recall: readonly RecallSummary[];
}

export const makeArmReport = (head: RunHead, byCondition: RowsByCondition): ArmReport => ({
  arms: ARMS.filter(({ name }) => byCondition.has(name)),
  interference: interferenceOf(byCondition),
  forms: summariseForms(head, byCondition),
  sources: summariseSources(byCondition),
  recall: summariseRecall(byCondition),
});

function interferenceOf(byCondition: RowsByCondition): readonly QuestionDifference[] {
  const without = [...byCondition].map(
    ([condition, rows]) => [condition, rows.filter(({ rules }) => rules.length === 0)] as const,
  );
  const base = without.find(([condition]) => condition === 'baseline')?.[1] ?? [];
  if (base.length === 0) return [];
  return without
    .filter(([condition, rows]) => condition !== 'baseline' && rows.length > 0)
    .flatMap(([condition, rows]) =>
      QUESTION_MEASURES.map(({ measure }) =>
        compareConditions(questionMeasure(measure), rows, base, [condition, 'baseline']),
      ).filter(({ pairs }) => pairs > 0),
    );
}

/** The rows of each condition that was planned or has rows, in order. */
type RowsByCondition = ReadonlyMap<Condition, readonly QuestionRecord[]>;

/** A question that a rule applies to: one chance to follow it. */
interface RuleNeed {
  readonly rule: string;
  readonly row: QuestionRecord;
  readonly isObeyed: boolean;
}

/** Every rule of every graded question. */
const needsIn = (rows: readonly QuestionRecord[]): readonly RuleNeed[] =>
  rows
    .filter(({ score }) => score !== undefined)
    .flatMap((row) => row.rules.map((rule) => ({ rule, row, isObeyed: !row.broken.includes(rule) })));

/** The share that was followed, resampled by day and seed. */
function obedience(needs: readonly RuleNeed[]): Figure {
  const blocks = new Map<string, { sum: number; n: number }>();
  for (const { row, isObeyed } of needs) {
    const { sum, n } = blocks.get(blockKey(row)) ?? { sum: 0, n: 0 };
    blocks.set(blockKey(row), { sum: sum + Number(isObeyed), n: n + 1 });
  }
  return meanFigure([...blocks.values()], { low: 0, high: 1 });
}

/** How often rules of one form were followed under each condition. */
interface FormSummary {
  readonly form: string;
  readonly origin?: string;
  /** The rules of this form, over all seeds. */
  readonly rules: readonly Pick<HeadRule, 'id' | 'title' | 'seed'>[];
  readonly conditions: readonly { readonly condition: Condition; readonly obeyed: Figure }[];
}

/** Rules that the head gives no form are left out. */
function summariseForms(
  { rules }: Pick<RunHead, 'rules'>,
  byCondition: RowsByCondition,
): readonly FormSummary[] {
  const keyOf = ({ form = '', origin = '' }: HeadRule): string => `${form}\n${origin}`;
  const named = rules.filter(({ form }) => form !== undefined);
  const keys = [...new Set(named.map(keyOf))].sort(compareText);
  const needs = [...byCondition].map(([condition, rows]) => ({ condition, needs: needsIn(rows) }));
  return keys.map((key) => {
    const own = named.filter((rule) => keyOf(rule) === key);
    const ids = new Set(own.map(({ id }) => id));
    const [first] = own;
    return {
      form: first?.form ?? '',
      ...(first?.origin === undefined ? {} : { origin: first.origin }),
      rules: own.map(({ id, title, seed }) => ({ id, title, ...(seed === undefined ? {} : { seed }) })),
      conditions: needs.map(({ condition, needs: all }) => ({
        condition,
        obeyed: obedience(all.filter(({ rule }) => ids.has(rule))),
      })),
    };
  });
}

/** How often rules were followed under a condition, by where the prompt explained them. */
interface SourceSummary {
  readonly condition: Condition;
  readonly all: Figure;
  /** Nothing in the prompt explained the rule. */
  readonly nowhere: Figure;
  /** Only the user's feedback did: earlier in the conversation, or in the notes. */
  readonly inFeedback: Figure;
  /** A lesson did. */
  readonly inLesson: Figure;
}

/** Rows of earlier versions do not say what feedback their prompts had: they count as if it had none. */
const summariseSources = (byCondition: RowsByCondition): readonly SourceSummary[] =>
  [...byCondition].map(([condition, rows]) => {
    const needs = needsIn(rows);
    const isTaught = ({ rule, row }: RuleNeed): boolean => row.taught.includes(rule);
    const isTold = ({ rule, row }: RuleNeed): boolean => row.told?.includes(rule) === true;
    return {
      condition,
      all: obedience(needs),
      nowhere: obedience(needs.filter((need) => !isTaught(need) && !isTold(need))),
      inFeedback: obedience(needs.filter((need) => !isTaught(need) && isTold(need))),
      inLesson: obedience(needs.filter(isTaught)),
    };
  });

/** Whether prompts contained the lessons that they needed. */
interface RecallSummary {
  readonly condition: Condition;
  /** Rules of questions that an active lesson of the library teaches: the lesson is needed. */
  readonly needed: number;
  /** The lesson was in the prompt with its body, by its index line only, or not at all. */
  readonly body: number;
  readonly line: number;
  readonly missing: number;
  readonly questions: number;
}

/** For every condition that has lessons. */
const summariseRecall = (byCondition: RowsByCondition): readonly RecallSummary[] =>
  [...byCondition].flatMap(([condition, rows]) => {
    if (armOf(condition).lessons === 'off' || rows.length === 0) return [];
    const needed = needsIn(rows).filter(({ rule, row }) => row.known?.includes(rule) === true);
    const line = needed.filter(({ rule, row }) => row.byLine?.includes(rule) === true).length;
    const taught = needed.filter(({ rule, row }) => row.taught.includes(rule)).length;
    return [
      {
        condition,
        needed: needed.length,
        body: taught - line,
        line,
        missing: needed.length - taught,
        questions: rows.length,
      },
    ];
  });
