import type { Condition } from '../../suite/arms.ts';
import type { QuestionRecord } from '../../suite/run-records.ts';
import { type Section, tableBlock } from '../document.ts';
import { count, dayName, percent } from '../format-numbers.ts';
import { conditionCell, createTable, numberColumn, textColumn } from '../table.ts';
import { gradeOf } from './question-rows.ts';

/** Means by our definitions and by those of the harness that a suite was published with. Shares; undefined where nothing counts. */
interface ScorePair {
  readonly accuracy: number | undefined;
  readonly completion: number | undefined;
  readonly officialAccuracy: number | undefined;
  readonly officialCompletion: number | undefined;
}

interface OfficialScores extends ScorePair {
  readonly condition: Condition;
  /** The formula of the paper, which stops at 0 where the harness counts below it. */
  readonly paperAccuracy: number | undefined;
  /** Questions with an official score. */
  readonly scored: number;
  readonly days: readonly (ScorePair & { readonly day: number; readonly asked: number })[];
}

/** Empty for a suite that was not published with a harness. */
export function officialScores(
  byCondition: ReadonlyMap<Condition, readonly QuestionRecord[]>,
): readonly OfficialScores[] {
  return [...byCondition].flatMap(([condition, rows]) => {
    const scored = rows.filter(({ official }) => official !== undefined);
    if (scored.length === 0) return [];
    const days = [...new Set(rows.map(({ day }) => day))].sort((a, b) => a - b);
    return [
      {
        condition,
        scored: scored.length,
        ...scoresOf(rows),
        paperAccuracy: mean(scored.map(({ official = 0 }) => Math.max(0, official))),
        days: days.map((day) => {
          const today = rows.filter((row) => row.day === day);
          return { day, asked: today.length, ...scoresOf(today) };
        }),
      },
    ];
  });
}

function scoresOf(rows: readonly QuestionRecord[]): ScorePair {
  const files = rows.filter(({ kind }) => kind === 'files');
  const official = (of: readonly QuestionRecord[]): number | undefined =>
    mean(of.flatMap((row) => row.official ?? []));
  return {
    accuracy: mean(rows.flatMap((row) => gradeOf('accuracy', row) ?? [])),
    completion: mean(files.flatMap((row) => gradeOf('completion', row) ?? [])),
    officialAccuracy: official(rows),
    officialCompletion: official(files),
  };
}

const mean = (values: readonly number[]): number | undefined =>
  values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length;

/** A section without content is left out of the report. */
export const officialSection = (scores: readonly OfficialScores[]): Section => ({
  title: 'By the published definitions',
  brief: 'the harness of the benchmark beside ours',
  about:
    'The harness takes the first box of an answer and each letter in it as a choice, counts below 0 where letters are no options (the paper’s formula stops at 0), and counts a failed reply as an answer. Its checkers pass a list of times that is missing or empty, a good name without a file, and any state in Python and CSV files.',
  blocks: scores.length === 0 ? [] : [tableBlock(summaryTable(scores)), tableBlock(dayTable(scores))],
});

const summaryTable = (scores: readonly OfficialScores[]) =>
  createTable(scores, [
    textColumn('condition', ({ condition }) => conditionCell(condition)),
    numberColumn('accuracy: ours', ({ accuracy }) => percent(accuracy)),
    numberColumn('harness', ({ officialAccuracy }) => percent(officialAccuracy)),
    numberColumn('paper', ({ paperAccuracy }) => percent(paperAccuracy)),
    numberColumn('completion: ours', ({ completion }) => percent(completion)),
    numberColumn('harness', ({ officialCompletion }) => percent(officialCompletion)),
    numberColumn('scored', ({ scored }) => count(scored)),
  ]);

function dayTable(scores: readonly OfficialScores[]) {
  const days = [...new Set(scores.flatMap((one) => one.days.map(({ day }) => day)))].sort((a, b) => a - b);
  const at = ({ days: all }: OfficialScores, day: number) => all.find((one) => one.day === day);
  return createTable<number>(
    days,
    [
      textColumn('day', dayName),
      numberColumn('asked', (day) => count(Math.max(...scores.map((one) => at(one, day)?.asked ?? 0)))),
      ...scores.flatMap((one) => [
        numberColumn<number>(`${one.condition} acc.`, (day) => percent(at(one, day)?.accuracy)),
        numberColumn<number>('h.', (day) => percent(at(one, day)?.officialAccuracy)),
        numberColumn<number>('compl.', (day) => percent(at(one, day)?.completion)),
        numberColumn<number>('h.', (day) => percent(at(one, day)?.officialCompletion)),
      ]),
    ],
    { caption: 'Each day by itself; h.: by the harness' },
  );
}
