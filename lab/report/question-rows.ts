import { CONDITIONS } from '../suites/arms.ts';
import type { QuestionRecord } from '../suites/run-records.ts';
import type { MeasureWords } from './numbers.ts';

export type QuestionMeasure = 'accuracy' | 'completion' | 'exact';

export const QUESTION_MEASURES: readonly MeasureWords<QuestionMeasure>[] = [
  { measure: 'accuracy', title: 'accuracy', better: 'more', unit: 'share' },
  { measure: 'completion', title: 'completion', better: 'more', unit: 'share' },
  { measure: 'exact', title: 'exact match', better: 'more', unit: 'share' },
];

/** Whether the measure applies to a question of this kind. */
export const isAbout = (measure: QuestionMeasure, { kind }: QuestionRecord): boolean =>
  measure === 'accuracy' || kind === (measure === 'completion' ? 'files' : 'choice');

/** 0 to 1; undefined when the question could not be graded, which is neither right nor wrong. */
export function gradeOf(measure: QuestionMeasure, { score, passed }: QuestionRecord): number | undefined {
  if (score === undefined || !Number.isFinite(score)) return undefined;
  if (measure === 'accuracy') return Math.max(0, Math.min(1, score));
  return passed === undefined ? undefined : Number(passed);
}

/**
 * Each question once, in an order that does not depend on the journal's: sums are then the same to the last bit. Of two rows
 * for one question the graded one counts; of two graded ones the one whose JSON sorts first, so that the choice is deterministic.
 */
export function orderRows(given: readonly QuestionRecord[]): {
  readonly rows: readonly QuestionRecord[];
  /** Rows for a question that has another row: an interrupted run asked it again. */
  readonly repeated: number;
} {
  const byPlace = new Map<string, { readonly row: QuestionRecord; readonly text: string }>();
  for (const row of given) {
    const place = `${row.condition}/${questionKey(row)}`;
    const text = JSON.stringify(row, Object.keys(row).sort());
    const held = byPlace.get(place);
    const isGraded = row.score !== undefined;
    if (held === undefined || (isGraded === (held.row.score !== undefined) ? text < held.text : isGraded))
      byPlace.set(place, { row, text });
  }
  const rows = [...byPlace.values()].map(({ row }) => row).sort(compareRows);
  return { rows, repeated: given.length - rows.length };
}

const compareRows = (a: QuestionRecord, b: QuestionRecord): number =>
  CONDITIONS.indexOf(a.condition) - CONDITIONS.indexOf(b.condition) ||
  a.seed - b.seed ||
  a.day - b.day ||
  compareText(a.question, b.question);

/** The same question under every condition. */
export const questionKey = ({ seed, day, question }: QuestionRecord): string => `${seed}/${day}/${question}`;

/** The questions of one day of one run are dependent: they share a workspace, a conversation and lessons. */
export const blockKey = ({ seed, day }: QuestionRecord): string => `${seed}/${day}`;

/** By code unit, whatever the machine's language. */
export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
