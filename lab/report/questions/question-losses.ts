import type { Condition } from '../../suite/arms.ts';
import type { QuestionRecord } from '../../suite/run-records.ts';
import type { RuleSummary } from '../rules.ts';
import { gradeOf, questionKey } from './question-rows.ts';

/** Where a condition did worse than the baseline. It is reported beside every gain, also where the gain is larger. */
export interface QuestionLosses {
  readonly of: Condition;
  readonly against: Condition;
  /** Questions graded under both conditions. */
  readonly pairs: number;
  readonly gained: number;
  /** Largest first. */
  readonly questions: readonly LostQuestion[];
  readonly days: readonly {
    readonly day: number;
    readonly mean: number;
    readonly lost: number;
    readonly pairs: number;
  }[];
  readonly rules: readonly { readonly id: string; readonly of: number; readonly against: number }[];
}

export interface LostQuestion {
  readonly seed: number;
  readonly day: number;
  readonly question: string;
  readonly kind: QuestionRecord['kind'];
  readonly of: number;
  readonly against: number;
  /** Rules broken here and not under the baseline. */
  readonly broken: readonly string[];
}

export function findQuestionLosses(
  names: readonly [Condition, Condition],
  of: readonly QuestionRecord[],
  against: readonly QuestionRecord[],
  rules: readonly RuleSummary[],
): QuestionLosses {
  const [name, other] = names;
  const others = new Map(against.map((row) => [questionKey(row), row]));
  const days = new Map<number, { sum: number; lost: number; pairs: number }>();
  const questions: LostQuestion[] = [];
  let pairs = 0;
  let gained = 0;
  for (const row of of) {
    const base = others.get(questionKey(row));
    const a = gradeOf('accuracy', row);
    const b = base && gradeOf('accuracy', base);
    if (base === undefined || a === undefined || b === undefined) continue;
    pairs++;
    if (a > b) gained++;
    const day = days.get(row.day) ?? { sum: 0, lost: 0, pairs: 0 };
    days.set(row.day, { sum: day.sum + a - b, lost: day.lost + (a < b ? 1 : 0), pairs: day.pairs + 1 });
    if (a < b) {
      const { seed, day: on, question, kind } = row;
      const broken = row.broken.filter((rule) => !base.broken.includes(rule));
      questions.push({ seed, day: on, question, kind, of: a, against: b, broken });
    }
  }
  // The sort is stable: equals keep the order of the rows.
  questions.sort((x, y) => y.against - y.of - (x.against - x.of));
  return {
    of: name,
    against: other,
    pairs,
    gained,
    questions,
    days: [...days]
      .map(([day, { sum, lost, pairs: n }]) => ({ day, mean: sum / n, lost, pairs: n }))
      .filter(({ mean }) => mean < 0)
      .sort((x, y) => x.day - y.day),
    rules: rules.flatMap(({ id, conditions }) => {
      const here = conditions.find(({ condition }) => condition === name)?.obeyed.value;
      const there = conditions.find(({ condition }) => condition === other)?.obeyed.value;
      return here !== undefined && there !== undefined && here < there
        ? [{ id, of: here, against: there }]
        : [];
    }),
  };
}
