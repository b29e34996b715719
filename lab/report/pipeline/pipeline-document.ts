import { differenceTable } from '../difference-table.ts';
import {
  type ConditionResult,
  lostList,
  type ReportDocument,
  type Section,
  type SectionBlock,
  tableBlock,
} from '../document.ts';
import { changeText, type MeasureWords, valueText } from '../figure.ts';
import { count, counted, fixed, timeTaken } from '../format-numbers.ts';
import { lessonBlocks } from '../lessons.ts';
import { linePlot } from '../line-plot.ts';
import { html, type Markup } from '../markup.ts';
import { beforeAndAfter, firstTaughtText } from '../rules.ts';
import { conditionCell, createTable, numberColumn, type ReportTable, textColumn } from '../table.ts';
import { type ConventionUnder, keptFromText } from './conventions.ts';
import { highestOf, PIPELINE_MEASURES, type PipelineMeasure, pipelineMeasure } from './pipeline-measures.ts';
import {
  type ConditionRuns,
  explainRunDifference,
  meanOfRun,
  type PipelineReport,
} from './pipeline-report.ts';
import { reviewSection } from './reviews.ts';
import type { LostStage, PipelineLosses } from './stage-changes.ts';

/** The report of the pipeline suite, for a terminal and as a page. */
export function pipelineDocument(report: PipelineReport): ReportDocument {
  const { head, remarks, conditions, differences, lessons } = report;
  return {
    head,
    remarks,
    size: `${counted(head.seeds.length, 'seed')} × ${counted(head.runs, 'run')} × ${counted(head.scored, 'scored stage')}`,
    results: conditions.map((one) => resultOf(one, head.mostRefines)),
    sections: [
      {
        title: 'Differences',
        brief: 'skills − baseline, paired, from the second run on',
        about:
          'Skills minus baseline: the same run of the same seed under both conditions, from the second run on, because nothing is learned before the first. A verdict is given only where the 95 % interval excludes 0 and a sign-flip test of the runs agrees. Rows of the same unit have the same scale.',
        blocks: [
          tableBlock(
            differenceTable(
              differences.map((difference) => ({
                difference,
                words: pipelineMeasure(difference.measure),
                explanation: explainRunDifference(difference),
              })),
            ),
          ),
        ],
      },
      runSection(report),
      {
        title: 'Conventions of the house',
        brief: 'first answers that broke them, over all seeds',
        about:
          'Conventions are what can be learned: no prompt states them, only the check of a stage does when a first answer breaks one. Numbers by run are over all seeds. A convention counts as taught from the first stage on whose prompt contained a lesson for it. “Kept from run” is the run from which on no first answer broke it, for each seed where they differ, – where the last run still did.',
        blocks: [tableBlock(conventionTable(report))],
      },
      {
        title: 'Lessons',
        blocks: lessonBlocks({ lessons, last: head.runs - 1, period: 'run', subject: 'convention' }),
      },
      {
        title: 'Losses beside gains',
        brief: 'baseline → skills, from the second run on',
        about:
          'Scored stages with lessons against the same stages without. A stage went worse if it was not completed, needed another attempt, or took more refine cycles, in this order.',
        blocks: [
          tableBlock(stageTable(report)),
          ...(report.losses === undefined ? [] : lossBlocks(report, report.losses)),
        ],
      },
      reviewSection(report.reviews),
      {
        title: 'Cost',
        about:
          'Tokens as the provider counted them, over all runs, the first included. Their price is not known here. “Outside the policy” is the time of gateway, record and library, including the wait until a stage has been learned from.',
        blocks: [tableBlock(costTable(report))],
      },
      {
        title: 'What is measured',
        blocks: [
          ...PIPELINE_MEASURES.map(
            ({ title, meaning }): SectionBlock => ({
              kind: 'text',
              text: `${title}: ${meaning}`,
              only: 'terminal',
            }),
          ),
          {
            kind: 'markup',
            markup: html`<dl class="meanings">${PIPELINE_MEASURES.map(({ title, meaning }) => html`<dt>${title}</dt><dd>${meaning}</dd>`)}</dl>`,
          },
        ],
      },
    ],
    footer: `${head.scored} of the pipeline’s stages are scored: those that a model does, and those of code that can fail. Intervals come from 4,000 resamples of runs; they do not cover how much seeds differ as a whole, which only more seeds can show. Shares of single conventions take stages as independent (Wilson) and support no claim. Each interval covers the truth 95 times in 100 on its own: of twenty comparisons without a difference, expect one to look like one.`,
  };
}

const resultOf = (one: ConditionRuns, mostRefines: number): ConditionResult => ({
  condition: one.condition,
  figures: PIPELINE_MEASURES.map((words) => ({
    words,
    figure: one[words.measure],
    highest: highestOf(words, mostRefines),
  })),
  counted: {
    title: 'runs counted',
    text: `${count(one.robustness.n)}/${count(one.finished)}`,
    sentence: `over ${counted(one.robustness.n, 'run')} of the ${count(one.finished)} finished`,
  },
});

const PLOTTED = PIPELINE_MEASURES.filter(({ measure }) => measure !== 'atOnce');
/** The most runs in a terminal; of more, a selection is shown that includes the first and the last. */
const MOST_COLUMNS = 8;

function runSection({ head, conditions }: PipelineReport): Section {
  const begun = conditions.filter(({ curve }) => curve.length > 0);
  const runs = Array.from({ length: head.runs }, (_, place) => place + 1);
  const table = (only: 'terminal' | 'page', shown: readonly number[]): SectionBlock => ({
    kind: 'table',
    only,
    table: runTable(begun, shown),
    ...(only === 'page' ? { summary: 'Numbers' } : {}),
  });
  return {
    title: 'Run by run',
    brief: 'mean over seeds',
    about:
      'Dots are seeds, the curve is their mean, the band is the range from the lowest to the highest seed.',
    blocks: [
      table('terminal', someOf(head.runs)),
      ...(begun.length === 0
        ? []
        : [
            {
              kind: 'markup' as const,
              markup: html`<div class="plots">${PLOTTED.map((words) => html`<div><h3>${words.title}</h3><figure>${runPlot(words, begun, head.runs)}</figure></div>`)}</div>`,
            },
          ]),
      table('page', runs),
    ],
  };
}

function runTable(conditions: readonly ConditionRuns[], runs: readonly number[]): ReportTable {
  const rows = PIPELINE_MEASURES.flatMap((words) =>
    conditions.map((one, place) => ({ words, one, isFirst: place === 0 })),
  );
  return createTable<(typeof rows)[number]>(
    rows,
    [
      textColumn('measure', ({ words, isFirst }) => (isFirst ? words.title : '')),
      textColumn('condition', ({ one }) => conditionCell(one.condition)),
      ...runs.map((run) =>
        numberColumn<(typeof rows)[number]>(`run ${run}`, ({ words, one }) =>
          valueText(words, meanOfRun(one, run, words.measure)),
        ),
      ),
    ],
    {
      caption: 'Mean over the seeds that have reached the run',
      row: ({ isFirst }) => ({ isGroupStart: isFirst }),
    },
  );
}

function someOf(runs: number): readonly number[] {
  const shown = Math.min(runs, MOST_COLUMNS);
  if (shown === 1) return [1];
  return Array.from({ length: shown }, (_, place) => Math.round(1 + (place * (runs - 1)) / (shown - 1)));
}

function runPlot(
  words: MeasureWords<PipelineMeasure>,
  conditions: readonly ConditionRuns[],
  runs: number,
): Markup {
  const { measure, title } = words;
  const lastOf = (one: ConditionRuns): number => one.curve.at(-1)?.run ?? 0;
  return linePlot({
    id: measure,
    title: `${title}, run by run`,
    description: conditions
      .map((one) => `${one.condition} ends at ${valueText(words, meanOfRun(one, lastOf(one), measure))}`)
      .join(', '),
    period: 'run',
    length: runs,
    top: topOf(words, conditions),
    tick: (value) =>
      words.unit === 'share' ? `${Math.round(value * 1000) / 10} %` : String(Math.round(value * 100) / 100),
    series: conditions.map((one) => ({
      condition: one.condition,
      curve: one.curve.map(({ run, seeds }) => {
        const values = seeds.map((seed) => seed[measure]);
        const value = meanOfRun(one, run, measure) ?? 0;
        return { at: run - 1, value, low: Math.min(...values), high: Math.max(...values) };
      }),
      dots: one.curve.flatMap(({ run, seeds }) =>
        seeds.map((seed) => ({
          at: run - 1,
          value: seed[measure],
          title: `${one.condition}, seed ${seed.seed}, run ${run}: ${valueText(words, seed[measure])}`,
        })),
      ),
    })),
    marks: [],
    size: 'small',
  });
}

const TOPS = [0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.6, 2, 3, 4];

/** A measure that is best at 1 has the whole scale; one that is best at 0 a scale up to its worst value. */
function topOf(
  { measure, better }: MeasureWords<PipelineMeasure>,
  conditions: readonly ConditionRuns[],
): number {
  if (better === 'more') return 1;
  const worst = Math.max(
    0,
    ...conditions.flatMap(({ curve }) => curve.flatMap(({ seeds }) => seeds.map((one) => one[measure]))),
  );
  return TOPS.find((top) => top >= worst) ?? worst;
}

function conventionTable({ conventions }: PipelineReport): ReportTable {
  const rows = conventions.flatMap((rule) =>
    rule.conditions
      .filter(({ runs }) => runs.length > 0)
      .map((under, place) => ({ rule, under, isFirst: place === 0 })),
  );
  return createTable<(typeof rows)[number]>(
    rows,
    [
      textColumn('convention', ({ rule, isFirst }) => (isFirst ? rule.title : ''), { maxWidth: 34 }),
      textColumn('stages', ({ rule, isFirst }) => (isFirst ? rule.stages.join(', ') : ''), { only: 'page' }),
      textColumn('condition', ({ under }) => conditionCell(under.condition)),
      textColumn('broken, by run', ({ under }) => ({
        text: brokenText(under),
        markup: brokenCells(under),
        className: 'cells',
      })),
      numberColumn('of each', ({ under }) => count(Math.max(...under.runs.map(({ of }) => of)))),
      ...beforeAndAfter(['kept untaught', 'kept once taught'], { only: 'page' }),
      textColumn('taught', ({ under }) => firstTaughtText(under, 'run')),
      textColumn('kept from run', ({ under }) => keptFromText(under)),
    ],
    { row: ({ isFirst }) => ({ isGroupStart: isFirst }) },
  );
}

/** Of many runs the first and the last ones. */
function brokenText({ runs }: ConventionUnder): string {
  const broken = runs.map((run) => run.broken);
  if (broken.length <= MOST_COLUMNS) return broken.join(' ');
  return `${broken.slice(0, MOST_COLUMNS / 2).join(' ')} … ${broken.slice(-MOST_COLUMNS / 2).join(' ')}`;
}

/** Zeros are faint, so that the end of the failures is easy to see. */
const brokenCells = ({ runs }: ConventionUnder): readonly Markup[] =>
  runs.map(
    ({ run, broken, of }) =>
      html`<span class="${broken === 0 ? 'none' : ''}" title="run ${run}: ${broken} of ${of} first answers">${broken}</span> `,
  );

const stageTable = ({ stages }: PipelineReport): ReportTable =>
  createTable(stages, [
    textColumn('stage', ({ stage }) => stage),
    numberColumn('refine cycles a run', ({ baseline, skills }) =>
      [baseline, skills].map(({ refines }) => fixed(refines, 2)).join(' → '),
    ),
    numberColumn(
      'runs retried',
      ({ baseline, skills }) => `${count(baseline.retried)} → ${count(skills.retried)}`,
    ),
    numberColumn(
      'runs completed',
      ({ baseline, skills, pairs }) =>
        `${count(baseline.completed)} → ${count(skills.completed)} of ${count(pairs)}`,
    ),
    numberColumn('better', ({ gained }) => ({ text: count(gained), className: gained > 0 ? 'better' : '' })),
    numberColumn('worse', ({ lost }) => ({ text: count(lost), className: lost > 0 ? 'worse' : '' })),
  ]);

function lossBlocks({ stages }: PipelineReport, losses: PipelineLosses): readonly SectionBlock[] {
  const worse = stages.filter(({ gained, lost }) => lost > gained).map(({ stage }) => stage);
  const robustness = pipelineMeasure('robustness');
  const sentences = [
    `${count(losses.gained)} of ${counted(losses.pairs, 'stage')} went better with lessons, ${count(losses.stages.length)} worse.`,
    losses.runs.length === 0
      ? 'No run was less robust.'
      : `Less robust runs: ${losses.runs.map(({ seed, run, by }) => `seed ${seed} run ${run} (${changeText(robustness, by)})`).join(', ')}.`,
    worse.length === 0
      ? 'No stage went worse more often than better.'
      : `Worse more often than better: ${worse.join(', ')}.`,
  ];
  return [
    { kind: 'text', text: sentences.join(' ') },
    ...lostList(losses.stages, {
      summary: 'Stages that went worse, largest first',
      name: ({ seed, run, stage }) => `${stage} (seed ${seed}, run ${run})`,
      columns: [
        textColumn('stage', ({ stage }) => stage),
        numberColumn('seed', ({ seed }) => String(seed)),
        numberColumn('run', ({ run }) => String(run)),
        textColumn('baseline', ({ baseline }) => outcomeText(baseline)),
        textColumn('skills', ({ skills }) => outcomeText(skills)),
        numberColumn('lessons shown', ({ shown }) => count(shown)),
        textColumn('newly broken', ({ broken }) => broken.join(' ')),
      ],
    }),
  ];
}

const outcomeText = ({ status, attempts, refines }: LostStage['baseline']): string =>
  `${status}, ${counted(attempts, 'attempt')}, ${counted(refines, 'cycle')}`;

const costTable = ({ costs }: PipelineReport): ReportTable =>
  createTable(costs, [
    textColumn('condition', ({ condition }) => conditionCell(condition)),
    numberColumn('runs', ({ runs }) => count(runs)),
    numberColumn('tokens in', ({ inputTokens }) => count(inputTokens)),
    numberColumn('out', ({ outputTokens }) => count(outputTokens)),
    numberColumn('tokens a run', ({ inputTokens, outputTokens, runs }) =>
      count((inputTokens + outputTokens) / runs),
    ),
    numberColumn('time a run', ({ ms, runs }) => timeTaken(ms / runs)),
    numberColumn('outside the policy', ({ overheadMs, runs }) => timeTaken(overheadMs / runs)),
  ]);
