import { markdownTable } from '../measure/markdown.ts';
import type {
  FinishedRun,
  PipelineCondition,
  PipelineHead,
  PipelineJournal,
  RunLesson,
  StageRecord,
} from '../suites/pipeline/pipeline-journal.ts';
import {
  hadOutage,
  isDoneAtOnce,
  type PipelinePair,
  pairRuns,
  pipelineFigures,
} from '../suites/pipeline/pipeline-metrics.ts';
import {
  changeRangeText,
  comparePairs,
  type Difference,
  type Explanation,
  explainPairs,
  FEWEST_SEEDS,
  type SeedPair,
} from './difference.ts';
import {
  changeText,
  count,
  counted,
  type Figure,
  figureEntries,
  figureText,
  type MeasureWords,
  meanFigure,
  NO_VALUE,
  percent,
  timeTaken,
} from './numbers.ts';
import { type RuleRow, type RuleUnder, summariseRules } from './rules.ts';

/** Everything that a run of the pipeline suite shows. Made from its journal alone: the same journal gives the same report. */
interface PipelineReport {
  readonly head: PipelineHead;
  /** What a reader must know before the numbers. */
  readonly remarks: readonly string[];
  readonly conditions: readonly ConditionRuns[];
  /** Empty unless both conditions were run more than once. */
  readonly differences: readonly RunDifference[];
  readonly conventions: readonly ConventionSummary[];
  readonly stages: readonly StageChange[];
  readonly costs: readonly PipelineCost[];
}

/** The results of one condition. */
interface ConditionRuns extends Readonly<Record<PipelineMeasure, Figure>> {
  readonly condition: PipelineCondition;
  readonly finished: number;
  /** Run by run, the figures of each seed. */
  readonly curve: readonly {
    readonly run: number;
    readonly seeds: readonly ({ readonly seed: number } & Readonly<Record<PipelineMeasure, number>>)[];
  }[];
}

/** Pure: no clock, and random draws have fixed seeds. */
export function makePipelineReport(journal: PipelineJournal): PipelineReport {
  const { head, runs } = journal;
  const pairs = pairRuns(journal);
  const whole = pairs.filter(({ isCut }) => !isCut);
  const rows = stageRows(journal);
  const hasPairs = head.conditions.length === 2 && head.runs > 1;
  return {
    head,
    remarks: remarksOn(journal),
    conditions: head.conditions.map((condition) => {
      const own = runs.filter((one) => one.condition === condition && !hadOutage(one));
      const compared = hasPairs
        ? whole.map((pair) => pair[condition])
        : own.filter(({ run }) => run > 1 || head.runs === 1);
      return {
        condition,
        finished: runs.filter((one) => one.condition === condition).length,
        ...byMeasure((words) => runFigure(words, compared, head)),
        curve: curveOf(own),
      };
    }),
    differences: hasPairs && runs.length > 0 ? compareRuns(pairs, head.mostRefines) : [],
    conventions: runs.length === 0 ? [] : summariseConventions(head, rows),
    stages: stageChanges(whole),
    costs: head.conditions.flatMap((condition) => costOfRuns(condition, runs)),
  };
}

function byMeasure<T>(of: (words: MeasureWords<PipelineMeasure>) => T): Readonly<Record<PipelineMeasure, T>> {
  const at = (measure: PipelineMeasure): T => of(pipelineMeasure(measure));
  return {
    completion: at('completion'),
    atOnce: at('atOnce'),
    retryRate: at('retryRate'),
    refinesPerStage: at('refinesPerStage'),
    robustness: at('robustness'),
  };
}

/** With an interval from resampling whole runs. */
function runFigure(
  words: MeasureWords<PipelineMeasure>,
  runs: readonly FinishedRun[],
  { mostRefines }: PipelineHead,
): Figure {
  const blocks = runs.map((run) => ({ sum: pipelineFigures(run)[words.measure], n: 1 }));
  return meanFigure(blocks, { low: 0, high: highestOf(words, mostRefines) });
}

function curveOf(runs: readonly FinishedRun[]): ConditionRuns['curve'] {
  const numbers = [...new Set(runs.map(({ run }) => run))].sort((a, b) => a - b);
  return numbers.map((run) => ({
    run,
    seeds: runs
      .filter((one) => one.run === run)
      .map((one) => {
        const figures = pipelineFigures(one);
        return { seed: one.seed, ...byMeasure(({ measure }) => figures[measure]) };
      }),
  }));
}

/** One measure with lessons against without. */
interface RunDifference extends Difference<PipelineMeasure> {
  /** Pairs that an outage cut short, and the difference if they counted as they are. */
  readonly leftOut: number;
  readonly withLeftOut?: number;
}

/** Measure by measure, each run against the run of the same seed and number. */
export function compareRuns(all: readonly PipelinePair[], mostRefines: number): readonly RunDifference[] {
  const whole = all.filter(({ isCut }) => !isCut);
  return PIPELINE_MEASURES.map((words) => {
    const valuesOf = (pairs: readonly PipelinePair[]): readonly SeedPair[] =>
      pairs.map(({ block, seed, skills, baseline }) => ({
        block,
        seed,
        a: pipelineFigures(skills)[words.measure],
        b: pipelineFigures(baseline)[words.measure],
      }));
    const options = { seed: `pipeline/${words.measure}`, highest: highestOf(words, mostRefines) };
    const withLeftOut =
      whole.length === all.length ? undefined : comparePairs(words, valuesOf(all), options).mean;
    return {
      ...comparePairs(words, valuesOf(whole), options),
      leftOut: all.length - whole.length,
      ...(withLeftOut === undefined ? {} : { withLeftOut }),
    };
  });
}

export function explainRunDifference(difference: RunDifference): Explanation {
  const { leftOut, withLeftOut } = difference;
  const words = pipelineMeasure(difference.measure);
  return explainPairs(difference, {
    words,
    of: 'skills',
    against: 'baseline',
    block: ['pair of runs', 'pairs of runs'],
    leftOut:
      leftOut === 0
        ? []
        : [
            `${counted(leftOut, 'pair')} left out: an outage cut a run short; with ${leftOut === 1 ? 'it' : 'them'} the difference is ${changeText(words, withLeftOut)}`,
          ],
  });
}

/** What a condition cost over all of its runs, the first included. */
interface PipelineCost {
  readonly condition: PipelineCondition;
  readonly runs: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly ms: number;
  /** Time outside the policy: what the gateway and its library add. */
  readonly overheadMs: number;
}

function costOfRuns(condition: PipelineCondition, runs: readonly FinishedRun[]): readonly PipelineCost[] {
  const own = runs.filter((one) => one.condition === condition);
  if (own.length === 0) return [];
  const stages = own.flatMap((one) => one.stages);
  const total = (of: (stage: (typeof stages)[number]) => number): number =>
    stages.reduce((sum, stage) => sum + of(stage), 0);
  const ms = total((stage) => stage.ms);
  return [
    {
      condition,
      runs: own.length,
      inputTokens: total(({ inputTokens }) => inputTokens),
      outputTokens: total(({ outputTokens }) => outputTokens),
      ms,
      overheadMs: Math.max(0, ms - own.reduce((sum, { policyMs }) => sum + policyMs, 0)),
    },
  ];
}

/** Seeds that have every run of every condition. */
export const finishedSeeds = ({ head, runs }: PipelineJournal): number =>
  head.seeds.filter(
    (seed) => runs.filter((one) => one.seed === seed).length === head.conditions.length * head.runs,
  ).length;

function remarksOn(journal: PipelineJournal): readonly string[] {
  const { head, runs } = journal;
  const { seeds, conditions } = head;
  const out: string[] = [...head.notes];
  const all = seeds.length * conditions.length * head.runs;
  if (runs.length === 0) return [...out, 'No run has been finished yet.'];
  if (runs.length < all)
    out.push(
      `${count(finishedSeeds(journal))} of ${counted(seeds.length, 'seed')} are finished (${count(runs.length)} of ${counted(all, 'run')}): the run was stopped or is still going. Continue it with --run ${head.run}.`,
    );
  if (head.runs === 1)
    out.push('One run of each: the first run only teaches, so there is nothing to compare yet.');
  else if (conditions.length === 1)
    out.push(`Only ${conditions[0]} was run: there is nothing to compare it with.`);
  const cut = runs.filter(hadOutage).length;
  if (cut > 0)
    out.push(
      `${counted(cut, 'run')} of ${count(runs.length)} had an outage that cut a stage off. An outage says nothing about the work: these runs are left out of figures and comparisons.`,
    );
  if (seeds.length < FEWEST_SEEDS)
    out.push(`${counted(seeds.length, 'seed')}: fewer than ${FEWEST_SEEDS} say little about the next run.`);
  if (head.policy === 'scripted')
    out.push(
      'The scripted researcher follows what it is taught with a known probability: this shows whether lessons reach the prompt, and nothing about how a real model follows them.',
    );
  return out;
}

type PipelineMeasure = 'completion' | 'atOnce' | 'retryRate' | 'refinesPerStage' | 'robustness';

const PIPELINE_MEASURES: readonly MeasureWords<PipelineMeasure>[] = [
  {
    measure: 'completion',
    title: 'stages completed',
    better: 'more',
    unit: 'share',
  },
  {
    measure: 'atOnce',
    title: 'done at once',
    better: 'more',
    unit: 'share',
  },
  {
    measure: 'retryRate',
    title: 'stages retried',
    better: 'less',
    unit: 'share',
  },
  {
    measure: 'refinesPerStage',
    title: 'refine cycles a stage',
    better: 'less',
    unit: 'cycles',
  },
  {
    measure: 'robustness',
    title: 'robustness',
    better: 'more',
    unit: 'index',
  },
];

function pipelineMeasure(measure: PipelineMeasure): MeasureWords<PipelineMeasure> {
  const found = PIPELINE_MEASURES.find((words) => words.measure === measure);
  if (found === undefined) throw new Error(`unknown measure ${measure}`);
  return found;
}

/** The largest value that a measure can have. */
const highestOf = ({ unit }: MeasureWords, mostRefines: number): number =>
  unit === 'cycles' ? Math.max(1, mostRefines) : 1;

/** One stage with and without lessons, over the compared runs: how often it went better, and worse, with them. */
interface StageChange {
  readonly stage: string;
  readonly pairs: number;
  readonly gained: number;
  readonly lost: number;
}

function stageChanges(pairs: readonly PipelinePair[]): readonly StageChange[] {
  const couples = pairs.flatMap(({ baseline, skills }) =>
    skills.stages.flatMap((now) => {
      const before = baseline.stages.find(({ stage }) => stage === now.stage);
      return before === undefined || !now.isScorable
        ? []
        : [{ stage: now.stage, change: burden(now) - burden(before) }];
    }),
  );
  return [...new Set(couples.map(({ stage }) => stage))].map((stage) => {
    const own = couples.filter((one) => one.stage === stage);
    return {
      stage,
      pairs: own.length,
      gained: own.filter(({ change }) => change < 0).length,
      lost: own.filter(({ change }) => change > 0).length,
    };
  });
}

/** A stage that is not completed weighs more than any retry, a retry more than the refine cycles of an attempt. */
const burden = ({ status, attempts, refines }: StageRecord): number =>
  (status === 'completed' ? 0 : 1e6) + 1e3 * Math.max(0, attempts - 1) + refines;

/** A convention of the house: how often first answers broke it. */
interface ConventionSummary {
  readonly id: string;
  readonly title: string;
  readonly stages: readonly string[];
  readonly conditions: readonly ConventionUnder[];
}

interface ConventionUnder extends Omit<RuleUnder, 'condition'> {
  readonly condition: PipelineCondition;
  /** First answers it applied to, over all seeds, and those that broke it. */
  readonly runs: readonly { readonly run: number; readonly broken: number; readonly of: number }[];
}

function summariseConventions(head: PipelineHead, rows: readonly StageRow[]): readonly ConventionSummary[] {
  const byCondition = new Map(
    head.conditions.map((condition) => [condition, rows.filter((row) => row.condition === condition)]),
  );
  const rules = head.conventions.map(({ id, title }) => ({ id, title, since: 0 }));
  const summaries = summariseRules({ rules }, byCondition);
  return head.conventions.map(({ id, title, stages }) => ({
    id,
    title,
    stages,
    conditions: head.conditions.flatMap((condition): readonly ConventionUnder[] => {
      const under = summaries
        .find((rule) => rule.id === id)
        ?.conditions.find((one) => one.condition === condition);
      if (under === undefined) return [];
      const own = (byCondition.get(condition) ?? []).filter(
        ({ rules: counted, score }) => counted.includes(id) && score !== undefined,
      );
      return [{ ...under, condition, runs: byRun(id, own) }];
    }),
  }));
}

function byRun(id: string, rows: readonly StageRow[]): ConventionUnder['runs'] {
  const days = [...new Set(rows.map(({ day }) => day))].sort((a, b) => a - b);
  return days.map((day) => {
    const own = rows.filter((row) => row.day === day);
    return { run: day + 1, broken: own.filter(({ broken }) => broken.includes(id)).length, of: own.length };
  });
}

/** A stage of a run: the conventions that applied, those it broke, and those that the lessons in its prompt teach. */
interface StageRow extends RuleRow {
  readonly condition: PipelineCondition;
  readonly stage: string;
}

/** The stages that a model does. A run of the pipeline is a day, counted from 0. */
function stageRows({ head, runs }: PipelineJournal): readonly StageRow[] {
  const lessonsAfter = new Map(runs.map((one) => [`${one.condition}/${one.seed}/${one.run}`, one.lessons]));
  return runs.flatMap(({ condition, seed, run, stages, lessons: after }) => {
    // A prompt contains a lesson as it was at the end of the run before; a newer lesson is only in this run's list.
    const teaches = teachesOf([...after, ...(lessonsAfter.get(`${condition}/${seed}/${run - 1}`) ?? [])]);
    return stages
      .filter(({ kind }) => kind === 'model')
      .map((record): StageRow => {
        const { stage, broken, lessons, attempts } = record;
        const rules = head.conventions.filter((one) => one.stages.includes(stage)).map(({ id }) => id);
        const taught = new Set(lessons.flatMap((id) => teaches.get(id) ?? []));
        return {
          condition,
          seed,
          day: run - 1,
          stage,
          rules,
          broken,
          taught: rules.filter((id) => taught.has(id)),
          // Without an attempt there is no first answer.
          ...(attempts === 0 ? {} : { score: isDoneAtOnce(record) ? 1 : 0 }),
        };
      });
  });
}

const teachesOf = (lessons: readonly RunLesson[]): ReadonlyMap<string, readonly string[]> =>
  new Map(lessons.map(({ id, teaches }) => [id, teaches]));

/**
 * What `--json` prints. Scripts rely on `conditions`, `seeds` and `questions` in every suite: here the accuracy of a condition
 * is the share of stages done at once, and questions are scored stages.
 */
export interface PipelineJson extends Pick<PipelineReport, 'remarks' | 'conventions' | 'stages' | 'costs'> {
  readonly conditions: Readonly<Record<string, object>>;
  readonly seeds: number;
  /** Scored stages of one seed under one condition. */
  readonly questions: number;
  readonly run: PipelineReport['head'];
  readonly differences: readonly object[];
}

export function pipelineJson(report: PipelineReport): PipelineJson {
  const { head, remarks, conditions, differences, conventions, stages, costs } = report;
  return {
    conditions: Object.fromEntries(conditions.map((each) => [each.condition, conditionJson(each)])),
    seeds: head.seeds.length,
    questions: head.scored * head.runs,
    run: head,
    remarks,
    differences: differences.map((difference) => ({ ...difference, ...explainRunDifference(difference) })),
    conventions,
    stages,
    costs,
  };
}

const conditionJson = (summary: ConditionRuns): object => ({
  ...Object.fromEntries([
    ...figureEntries('accuracy', summary.atOnce),
    ...PIPELINE_MEASURES.flatMap(({ measure }) => figureEntries(measure, summary[measure])),
  ]),
  finished: summary.finished,
  curve: summary.curve,
});

/** The report as sections of a Markdown document. */
export function pipelineMarkdown({
  head,
  remarks,
  conditions,
  differences,
  conventions,
  stages,
  costs,
}: PipelineReport): string {
  const under = (one: ConventionSummary, condition: PipelineCondition): string => {
    const figures = one.conditions.find((each) => each.condition === condition);
    if (figures === undefined) return NO_VALUE;
    return `${percent(figures.obeyed.value)} (${percent(figures.before.value)}, ${percent(figures.after.value)})`;
  };
  const lost = stages.filter((stage) => stage.lost > 0);
  return [
    `pipeline, run ${head.run}, ${head.startedAt.slice(0, 10)}, instar ${head.version}: policy ${head.policy}, ${counted(head.seeds.length, 'seed')} × ${counted(head.runs, 'run')}.`,
    remarks.map((remark) => `- ${remark}`).join('\n'),
    '### Results',
    markdownTable(
      ['', ...PIPELINE_MEASURES.map(({ title }) => title)],
      [
        ...conditions.map((one) => [
          one.condition,
          ...PIPELINE_MEASURES.map((words) => figureText(words, one[words.measure])),
        ]),
        ...(differences.length === 0
          ? []
          : [
              [
                'difference',
                ...differences.map((one) => {
                  const words = pipelineMeasure(one.measure);
                  const change = `${changeText(words, one.mean)} (${changeRangeText(words, one.interval)})`;
                  return one.verdict === 'cannot say' ? change : `**${change}**`;
                }),
              ],
            ]),
      ],
    ),
    ...differences.map((one) => `- ${explainRunDifference(one).claim}`),
    `Stages that went better with lessons: ${count(sumOf(stages, 'gained'))} of ${count(sumOf(stages, 'pairs'))}; worse: ${count(sumOf(stages, 'lost'))}${lost.length === 0 ? '' : ` (${lost.map((one) => `${one.stage} ${one.lost}`).join(', ')})`}.`,
    '### Conventions',
    'Kept in first answers (before it was taught, after):',
    markdownTable(
      ['convention', ...head.conditions],
      conventions.map((one) => [one.title, ...head.conditions.map((condition) => under(one, condition))]),
    ),
    '### Cost',
    markdownTable(
      ['', 'runs', 'prompt tokens', 'completion tokens', 'time'],
      costs.map((one) => [
        one.condition,
        count(one.runs),
        count(one.inputTokens),
        count(one.outputTokens),
        timeTaken(one.ms),
      ]),
    ),
  ].join('\n\n');
}

const sumOf = (stages: readonly StageChange[], what: 'pairs' | 'gained' | 'lost'): number =>
  stages.reduce((sum, stage) => sum + stage[what], 0);
