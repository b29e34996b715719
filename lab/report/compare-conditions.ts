import type { Condition } from '../suites/arms.ts';
import type { QuestionRecord } from '../suites/run-records.ts';
import {
  comparePairs,
  type Difference,
  type Explanation,
  explainPairs,
  type SeedPair,
} from './difference.ts';
import type { MeasureWords } from './numbers.ts';
import { counted, points } from './numbers.ts';
import {
  blockKey,
  gradeOf,
  isAbout,
  QUESTION_MEASURES,
  type QuestionMeasure,
  questionKey,
} from './question-rows.ts';

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
