import { armSection, armSections } from '../arms/arm-sections.ts';
import { sparkline } from '../bar-chart.ts';
import { shareBar } from '../charts.ts';
import { differenceTable } from '../difference-table.ts';
import {
  type ConditionResult,
  lostList,
  type ReportDocument,
  type Section,
  type SectionBlock,
  tableBlock,
} from '../document.ts';
import { figureText, intervalText } from '../figure.ts';
import {
  count,
  counted,
  dayName,
  fixed,
  money,
  NO_VALUE,
  percent,
  points,
  timeTaken,
} from '../format-numbers.ts';
import { lessonBlocks } from '../lessons.ts';
import { linePlot, type PlotMark } from '../line-plot.ts';
import { html } from '../markup.ts';
import { beforeAndAfter, firstTaughtText } from '../rules.ts';
import { conditionCell, createTable, drawing, numberColumn, type ReportTable, textColumn } from '../table.ts';
import { explainQuestionDifference, questionMeasure } from './compare-conditions.ts';
import type { ConditionSummary, DayFigures } from './condition-summary.ts';
import { completionChange, type NightReport, servingText, weightsMarks } from './nights.ts';
import { officialSection } from './official-scores.ts';
import type { QuestionLosses } from './question-losses.ts';
import { lastDay, type QuestionReport } from './question-report.ts';
import { QUESTION_MEASURES } from './question-rows.ts';

const SHARE = { unit: 'share' } as const;

/** The report of a question suite, for a terminal and as a page. */
export function questionDocument(report: QuestionReport): ReportDocument {
  const { head, remarks, conditions, lessons } = report;
  return {
    head,
    remarks,
    size: `${counted(head.questions, 'question')} × ${counted(head.seeds.length, 'seed')}`,
    results: conditions.map(resultOf),
    sections: [
      armSection(report.arms),
      differenceSection(report),
      ...armSections(report.arms),
      daySection(report),
      officialSection(report.official),
      ruleSection(report),
      {
        title: 'Lessons',
        blocks: lessonBlocks({ lessons, last: lastDay(report), period: 'day', subject: 'rule' }),
      },
      nightSection(report),
      { title: 'Losses beside gains', blocks: report.losses.flatMap(lossBlocks) },
      { title: 'By type', blocks: [tableBlock(typeTable(report))] },
      { title: 'By learning arc', blocks: [tableBlock(arcTable(report))] },
      {
        title: 'Cost',
        about:
          'Overhead is the time a question took outside the policy. Training counts nights with their measurements; learning counts calls of models that write lessons.',
        blocks: [tableBlock(costTable(report))],
      },
    ],
    footer: `${QUESTION_MEASURES.map(({ title, meaning }) => `${title}: ${meaning}`).join(' ')} Questions that could not be graded are counted separately and are neither right nor wrong. Intervals of whole conditions and of differences come from 4,000 resamples of days of runs; they do not cover how much whole runs differ, which only more seeds can show. Intervals of single days, arcs and rules take questions as independent (Wilson) and support no claim. Each interval covers the truth 95 times in 100 on its own: of twenty comparisons without a difference, expect one to look like one. A report is about one policy and one form of the questions.`,
  };
}

const resultOf = (summary: ConditionSummary): ConditionResult => ({
  condition: summary.condition,
  figures: QUESTION_MEASURES.map((words) => ({ words, figure: summary[words.measure], highest: 1 })),
  counted: {
    title: 'graded',
    text: `${count(summary.graded)}/${count(summary.asked)}`,
    sentence: `${count(summary.graded)} of ${counted(summary.asked, 'question')} graded${summary.ungraded.length === 0 ? '' : `; not graded: ${summary.ungraded.map(({ why, questions }) => `${why} (${count(questions)})`).join(', ')}`}`,
  },
});

const differenceSection = ({ differences }: QuestionReport): Section => ({
  title: 'Differences',
  brief: 'paired by question',
  about:
    'The same question under both conditions, with days of runs as the unit of resampling. A verdict is given only where the 95 % interval excludes 0 and a sign-flip test of the days agrees.',
  blocks: [
    tableBlock(
      differenceTable(
        differences.map((difference) => ({
          difference,
          words: questionMeasure(difference.measure),
          explanation: explainQuestionDifference(difference),
          names: { of: difference.of, against: difference.against },
        })),
      ),
    ),
  ],
});

const PLOTS = [
  { measure: 'accuracy', title: 'Accuracy by day' },
  { measure: 'completion', title: 'Completed file tasks by day' },
] as const;

/** In a terminal a bar for each day, and the three-day mean on its first full day and at the end; on the page two plots with their numbers. */
function daySection(report: QuestionReport): Section {
  const last = lastDay(report);
  const days = Array.from({ length: (last ?? -1) + 1 }, (_, day) => day);
  const marks: readonly PlotMark[] = [...ruleMarks(report, last ?? 0), ...weightMarks(report, last ?? 0)];
  return {
    title: 'By day',
    about:
      'Dots are days over all seeds, the curve is the mean of three days, the band its 95 % interval. Dashed lines show where a rule begins to count, thin lines where newly trained weights begin to serve.',
    blocks: [
      { kind: 'table', table: sparkTable(report, days), only: 'terminal' },
      ...PLOTS.flatMap(({ measure, title }): readonly SectionBlock[] => {
        const shown = report.conditions.filter((one) =>
          one.days.some((day) => day[measure].value !== undefined),
        );
        if (shown.length === 0) return [];
        const plot = linePlot({
          id: measure,
          title,
          description: shown
            .map((one) => `${one.condition} ends at ${percent(one.days.at(-1)?.rolling[measure].value)}`)
            .join(', '),
          period: 'day',
          length: days.length,
          top: 1,
          tick: (share) => `${share * 100} %`,
          series: shown.map((one) => ({
            condition: one.condition,
            curve: one.days.flatMap(({ day, rolling }) => {
              const { value, interval } = rolling[measure];
              if (value === undefined) return [];
              return [{ at: day, value, low: interval?.low ?? value, high: interval?.high ?? value }];
            }),
            dots: one.days.flatMap((today) => {
              const { value, n } = today[measure];
              if (value === undefined) return [];
              const title = `${one.condition}, ${dayName(today.day)}: ${figureText(SHARE, today[measure])}, ${counted(n, 'question')}`;
              return [{ at: today.day, value, title }];
            }),
          })),
          marks,
          size: 'wide',
        });
        return [
          { kind: 'markup', markup: html`<h3>${title}</h3><figure class="scroll">${plot}</figure>` },
          { kind: 'table', table: dayTable(shown, days, measure), only: 'page', summary: 'Numbers' },
        ];
      }),
    ],
  };
}

function sparkTable({ head, conditions }: QuestionReport, days: readonly number[]): ReportTable {
  const mean = (day: DayFigures | undefined, measure: 'accuracy' | 'completion'): string =>
    `${percent(day?.rolling[measure].value)} (${dayName(day?.day ?? 0)})`;
  const rows = PLOTS.flatMap(({ measure }) =>
    conditions.flatMap(({ condition, days: figures }) => {
      const shares = days.map((day) => figures.find((one) => one.day === day)?.[measure].value);
      if (shares.every((share) => share === undefined)) return [];
      const [from, to] = [figures[2] ?? figures.at(-1), figures.at(-1)];
      const rolling = from === to ? mean(to, measure) : `${mean(from, measure)} → ${mean(to, measure)}`;
      return [[condition, measure, sparkline(shares), rolling] as const];
    }),
  );
  const begins = days.map((day) => (head.rules.some(({ since }) => since === day) ? '^' : ' ')).join('');
  const hasMarks = rows.length > 0 && begins.trim() !== '';
  return createTable(hasMarks ? [...rows, ['', '', begins, '^ a rule begins to count'] as const] : rows, [
    textColumn('condition', ([condition]) => condition),
    textColumn('measure', ([, measure]) => measure),
    textColumn('one bar per day', ([, , bars]) => bars),
    textColumn('3-day mean', ([, , , rolling]) => rolling),
  ]);
}

const dayTable = (
  conditions: readonly ConditionSummary[],
  days: readonly number[],
  measure: 'accuracy' | 'completion',
): ReportTable =>
  createTable<number>(
    days,
    [
      textColumn('day', dayName),
      ...conditions.flatMap((condition) => {
        const found = (day: number) => condition.days.find((one) => one.day === day);
        return [
          numberColumn<number>(condition.condition, (day) => percent(found(day)?.[measure].value)),
          textColumn<number>('95 %', (day) => {
            const today = found(day)?.[measure];
            return today?.value === undefined ? '' : intervalText(SHARE, today.interval);
          }),
          numberColumn<number>('3-day mean', (day) => percent(found(day)?.rolling[measure].value)),
        ];
      }),
    ],
    { caption: 'Each day, and the mean of it and the two days before' },
  );

function ruleMarks({ head: { rules } }: QuestionReport, last: number): readonly PlotMark[] {
  const days = [...new Set(rules.map(({ since }) => since))].filter((day) => day <= last);
  return days.map((day) => {
    const begun = rules.filter(({ since }) => since === day);
    return {
      kind: 'rule',
      at: day,
      label: begun.map(({ id }) => id).join(' '),
      title: begun.map(({ id, title }) => `${id} begins on ${dayName(day)}: ${title}`).join('\n'),
    };
  });
}

const weightMarks = ({ nights }: QuestionReport, last: number): readonly PlotMark[] =>
  weightsMarks(nights, last).map(({ day, label, title }) => ({
    kind: 'weights',
    at: day,
    label,
    title: `${label}, from ${dayName(day)} on (${title})`,
  }));

function ruleSection({ rules }: QuestionReport): Section {
  const rows = rules.flatMap((rule) =>
    rule.conditions
      .filter(({ obeyed }) => obeyed.n > 0)
      .map((under, place) => ({ rule, under, isFirst: place === 0 })),
  );
  const arcs = rules.flatMap(({ id, conditions }) =>
    conditions.flatMap((under) => under.arcs.map((one) => ({ id, condition: under.condition, ...one }))),
  );
  return {
    title: 'Rules',
    brief: 'how often they were followed',
    about:
      'A rule counts as taught from the first question on whose prompt contained a lesson that teaches it. “Not shown” counts later questions whose prompt did not.',
    blocks: [
      tableBlock(
        createTable<(typeof rows)[number]>(
          rows,
          [
            textColumn('rule', ({ rule, isFirst }) => (isFirst ? rule.id : '')),
            textColumn('', ({ rule, isFirst }) => (isFirst && rule.title !== rule.id ? rule.title : ''), {
              maxWidth: 24,
            }),
            textColumn('since', ({ rule, isFirst }) =>
              isFirst && rule.since !== undefined ? dayName(rule.since) : '',
            ),
            textColumn('condition', ({ under }) => conditionCell(under.condition)),
            ...beforeAndAfter(['before taught', 'after']),
            textColumn('first taught', ({ under }) => firstTaughtText(under, 'day')),
            numberColumn('not shown', ({ under }) => (under.missed === 0 ? '' : count(under.missed))),
          ],
          { row: ({ isFirst }) => ({ isGroupStart: isFirst }) },
        ),
      ),
      {
        kind: 'table',
        only: 'page',
        summary: 'By learning arc',
        table: createTable(arcs, [
          textColumn('rule', ({ id }) => id),
          textColumn('condition', ({ condition }) => conditionCell(condition)),
          textColumn('arc', ({ arc }) => arc),
          numberColumn('followed', ({ obeyed }) => percent(obeyed.value)),
          numberColumn('questions', ({ obeyed }) => count(obeyed.n)),
        ]),
      },
    ],
  };
}

const nightSection = ({ nights }: QuestionReport): Section => ({
  title: 'Nights',
  brief: 'weights trained and measured after a day',
  about:
    'Weights are trained after a day on which the library learned something, on tasks of another world. The new weights and the serving ones then attempt the same held-out tasks. The new ones serve only where these pairs show that they are not worse by more than a small margin.',
  blocks: [
    tableBlock(
      createTable<NightReport>(
        nights,
        [
          numberColumn('seed', ({ seed }) => String(seed)),
          textColumn('after', ({ day }) => dayName(day)),
          numberColumn('steps', ({ steps }) => count(steps)),
          textColumn('attempts complete', completionChange),
          numberColumn('pairs', ({ pairs }) => (pairs === 0 ? NO_VALUE : count(pairs))),
          numberColumn('new weights', ({ candidate }) => percent(candidate)),
          numberColumn('old weights', ({ live }) => percent(live)),
          numberColumn('took', ({ ms }) => timeTaken(ms)),
          textColumn('serving', (night) => ({
            text: servingText(night),
            className: night.isNew ? night.condition : 'soft',
          })),
        ],
        {
          row: (night) => ({
            notes: night.moves,
            isGroupStart: nights[nights.indexOf(night) - 1]?.seed !== night.seed,
          }),
        },
      ),
    ),
  ],
});

function lossBlocks(losses: QuestionLosses): readonly SectionBlock[] {
  const { of, against, pairs, gained, questions, days, rules } = losses;
  const sentences = [
    `${of} against ${against}: ${counted(gained, 'question')} of ${count(pairs)} scored higher, ${count(questions.length)} lower.`,
    days.length === 0
      ? `No day was below ${against}.`
      : `Days below ${against}: ${days.map(({ day, mean }) => `${dayName(day)} (${points(mean)})`).join(', ')}.`,
    rules.length === 0
      ? 'No rule was followed less often.'
      : `Rules followed less often: ${rules.map((rule) => `${rule.id} (${percent(rule.of)} instead of ${percent(rule.against)})`).join(', ')}.`,
  ];
  return [
    { kind: 'text', text: sentences.join(' ') },
    ...lostList(questions, {
      summary: 'Questions lost, largest first',
      name: ({ seed, day, question }) => `${dayName(day)} ${question} (seed ${seed})`,
      columns: [
        textColumn('day', ({ day }) => dayName(day)),
        textColumn('question', ({ question }) => question),
        numberColumn('seed', ({ seed }) => String(seed)),
        textColumn('type', ({ kind }) => kind),
        numberColumn(against, (lost) => fixed(lost.against, 2)),
        numberColumn(of, (lost) => fixed(lost.of, 2)),
        textColumn('newly broken', ({ broken }) => broken.join(' ')),
      ],
    }),
  ];
}

const typeTable = ({ conditions }: QuestionReport): ReportTable =>
  createTable(
    (['choice', 'files'] as const).flatMap((kind) =>
      conditions.flatMap(({ condition, types }) =>
        types.filter((type) => type.kind === kind).map((type) => ({ condition, ...type })),
      ),
    ),
    [
      textColumn('type', ({ kind }) => (kind === 'choice' ? 'multiple choice' : 'file tasks')),
      textColumn('condition', ({ condition }) => conditionCell(condition)),
      textColumn('', ({ accuracy, condition }) => drawing(shareBar(accuracy), condition), { only: 'page' }),
      textColumn('mean score', ({ accuracy }) => figureText(SHARE, accuracy)),
      textColumn('exactly right', ({ passed }) => figureText(SHARE, passed)),
      numberColumn('graded', ({ accuracy }) => count(accuracy.n)),
    ],
  );

/** Every arc that any condition has; a condition that was cut short has only the first ones. */
function arcTable({ conditions }: QuestionReport): ReportTable {
  const [longest] = [...conditions].sort((a, b) => b.arcs.length - a.arcs.length);
  const names = new Set([longest, ...conditions].flatMap((each) => each?.arcs.map(({ arc }) => arc) ?? []));
  return createTable<string>(
    [...names],
    [
      textColumn('arc', (name) => name),
      ...conditions.flatMap(({ condition, arcs }) =>
        (['accuracy', 'completion'] as const).map((measure) =>
          numberColumn<string>(measure === 'accuracy' ? condition : measure, (name) => {
            const figure = arcs.find(({ arc }) => arc === name)?.[measure];
            // A terminal has no room for the intervals.
            return { text: percent(figure?.value), markup: figure && figureText(SHARE, figure) };
          }),
        ),
      ),
    ],
  );
}

const costTable = ({ costs }: QuestionReport): ReportTable =>
  createTable(costs, [
    textColumn('condition', ({ condition }) => conditionCell(condition)),
    numberColumn('cost', ({ usd }) => money(usd)),
    numberColumn('tokens in', ({ inputTokens }) => count(inputTokens)),
    numberColumn('out', ({ outputTokens }) => count(outputTokens)),
    numberColumn('steps each', ({ steps, questions }) => fixed(steps / questions, 1)),
    numberColumn('time each', ({ ms, questions }) => timeTaken(ms / questions)),
    numberColumn('overhead each: median', ({ overheadMs }) => timeTaken(overheadMs.median)),
    numberColumn('95 %', ({ overheadMs }) => timeTaken(overheadMs.p95)),
    numberColumn('training', ({ trainingMs }) => timeTaken(trainingMs)),
    numberColumn('its tokens', ({ trainingTokens }) => count(trainingTokens)),
    numberColumn('learning calls', ({ learningCalls }) => count(learningCalls)),
  ]);
