import type { Condition } from '../../suite/arms.ts';
import type { HeadRule, QuestionRecord, RunHead } from '../../suite/run-records.ts';
import { type Figure, meanFigure } from '../figure.ts';
import { blockKey, compareText } from '../questions/question-rows.ts';

/** The rows of each condition that was planned or has rows, in order. */
export type RowsByCondition = ReadonlyMap<Condition, readonly QuestionRecord[]>;

/** A question that a rule applies to: one chance to follow it. */
export interface RuleNeed {
  readonly rule: string;
  readonly row: QuestionRecord;
  readonly isObeyed: boolean;
}

/** Every rule of every graded question. */
export const needsIn = (rows: readonly QuestionRecord[]): readonly RuleNeed[] =>
  rows
    .filter(({ score }) => score !== undefined)
    .flatMap((row) => row.rules.map((rule) => ({ rule, row, isObeyed: !row.broken.includes(rule) })));

/** The share that was followed, resampled by day and seed. */
export function obedience(needs: readonly RuleNeed[]): Figure {
  const blocks = new Map<string, { sum: number; n: number }>();
  for (const { row, isObeyed } of needs) {
    const { sum, n } = blocks.get(blockKey(row)) ?? { sum: 0, n: 0 };
    blocks.set(blockKey(row), { sum: sum + Number(isObeyed), n: n + 1 });
  }
  return meanFigure([...blocks.values()], { low: 0, high: 1 });
}

/** How often rules of one form were followed under each condition. */
export interface FormSummary {
  readonly form: string;
  readonly origin?: string;
  /** The rules of this form, over all seeds. */
  readonly rules: readonly Pick<HeadRule, 'id' | 'title' | 'seed'>[];
  readonly conditions: readonly { readonly condition: Condition; readonly obeyed: Figure }[];
}

/** Rules that the head gives no form are left out. */
export function summariseForms(
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
export interface SourceSummary {
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
export const summariseSources = (byCondition: RowsByCondition): readonly SourceSummary[] =>
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
