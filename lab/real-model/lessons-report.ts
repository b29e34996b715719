import { markdownTable } from '../measure/markdown.ts';
import { compareConditions, questionMeasure } from '../report/compare-conditions.ts';
import { changeRangeText } from '../report/difference.ts';
import { figureText, points } from '../report/numbers.ts';
import { questionMarkdown } from '../report/question-markdown.ts';
import { makeQuestionReport, type QuestionJournal } from '../report/question-report.ts';
import { isAbout, QUESTION_MEASURES } from '../report/question-rows.ts';
import { armLabel } from '../suites/arms.ts';

/** The days, counted from 0, on which rules have been told long enough that lessons can exist. */
const LATER = 5;
const SHARE = { unit: 'share' } as const;

/** The tables of a run of the desk: later days first, since that is what was registered, then all days. */
export function lessonsMarkdown(journal: QuestionJournal): string {
  const later = makeQuestionReport({ ...journal, rows: journal.rows.filter(({ day }) => day >= LATER) });
  const rules = new Map(later.arms.sources.map(({ condition, all }) => [condition, all]));
  const completion = later.differences.filter(({ measure }) => measure === 'completion');
  return [
    `### Days ${LATER + 1} to ${Math.max(...journal.rows.map(({ day }) => day)) + 1}`,
    markdownTable(
      ['arm', 'files complete', 'checks met', 'rules followed'],
      later.conditions.map(({ condition, completion: complete, accuracy }) => {
        const followed = rules.get(condition);
        return [
          armLabel(condition),
          figureText(SHARE, complete),
          figureText(SHARE, accuracy),
          followed === undefined ? '–' : `${figureText(SHARE, followed)} of ${followed.n}`,
        ];
      }),
    ),
    'Files complete, paired by task, in points, with days of runs resampled:',
    markdownTable(
      ['', 'difference', 'pairs', 'better/worse'],
      completion.map(({ of, against, mean, interval, pairs, gained, lost }) => [
        `${armLabel(of)} − ${armLabel(against)}`,
        mean === undefined
          ? '–'
          : `${points(mean)} (${changeRangeText(questionMeasure('completion'), interval)})`,
        String(pairs),
        `${gained}/${lost}`,
      ]),
    ),
    '### All days',
    questionMarkdown(makeQuestionReport(journal)).replaceAll(/^### /gm, '#### '),
  ].join('\n\n');
}

/** The same arms of two runs with the same questions, of other weights: paired by question, days of runs resampled. */
export function betweenRuns(of: QuestionJournal, against: QuestionJournal, name: string): string {
  const shared = of.head.conditions.filter((one) => against.head.conditions.includes(one));
  const rows = shared.flatMap((condition) => {
    const own = of.rows.filter((row) => row.condition === condition);
    const base = against.rows.filter((row) => row.condition === condition);
    return QUESTION_MEASURES.filter(({ measure }) => own.some((row) => isAbout(measure, row))).map(
      (words) => {
        const { mean, interval, pairs, gained, lost } = compareConditions(words, own, base, [
          condition,
          condition,
        ]);
        return [
          armLabel(condition),
          words.title,
          mean === undefined
            ? '–'
            : `${points(mean)} (${changeRangeText(questionMeasure(words.measure), interval)})`,
          String(pairs),
          `${gained}/${lost}`,
        ];
      },
    );
  });
  return [
    `### ${of.head.run} − ${name}`,
    markdownTable(['arm', 'measure', 'difference', 'pairs', 'better/worse'], rows),
  ].join('\n\n');
}
