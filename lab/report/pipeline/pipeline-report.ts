import type {
  FinishedRun,
  PipelineCondition,
  PipelineHead,
  PipelineJournal,
} from '../../pipeline/pipeline-journal.ts';
import { hadOutage, type PipelinePair, pairRuns, pipelineFigures } from '../../pipeline/pipeline-metrics.ts';
import {
  comparePairs,
  type Difference,
  type Explanation,
  explainPairs,
  FEWEST_SEEDS,
  type SeedPair,
} from '../difference.ts';
import { changeText, type Figure, type MeasureWords, meanFigure } from '../figure.ts';
import { count, counted } from '../format-numbers.ts';
import { type LessonLife, lessonLives } from '../lessons.ts';
import { type ConventionSummary, stageRows, summariseConventions } from './conventions.ts';
import { highestOf, PIPELINE_MEASURES, type PipelineMeasure, pipelineMeasure } from './pipeline-measures.ts';
import { type ReviewSummary, summariseReviews } from './reviews.ts';
import { findPipelineLosses, type PipelineLosses, type StageChange, stageChanges } from './stage-changes.ts';

/** Everything that a run of the pipeline suite shows. Made from its journal alone: the same journal gives the same report. */
export interface PipelineReport {
  readonly head: PipelineHead;
  /** What a reader must know before the numbers. */
  readonly remarks: readonly string[];
  readonly conditions: readonly ConditionRuns[];
  /** Empty unless both conditions were run more than once. */
  readonly differences: readonly RunDifference[];
  readonly conventions: readonly ConventionSummary[];
  readonly stages: readonly StageChange[];
  readonly losses: PipelineLosses | undefined;
  /** Lessons of `skills` first. A day of a life is a run, counted from 0. */
  readonly lessons: readonly LessonLife[];
  readonly costs: readonly PipelineCost[];
  readonly reviews: readonly ReviewSummary[];
}

/** The results of one condition. */
export interface ConditionRuns extends Readonly<Record<PipelineMeasure, Figure>> {
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
  const lives = lessonLives(
    runs.flatMap(({ condition, seed, run, lessons }) =>
      lessons.map((lesson) => ({ condition, seed, day: run - 1, ...lesson })),
    ),
    rows,
  );
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
    losses: whole.length === 0 ? undefined : findPipelineLosses(whole),
    lessons: [
      ...lives.filter(({ condition }) => condition === 'skills'),
      // The baseline's lessons wait for approval: no prompt contains them.
      ...lives.filter(({ condition }) => condition !== 'skills'),
    ],
    costs: head.conditions.flatMap((condition) => costOfRuns(condition, runs)),
    reviews: summariseReviews(runs, head.conditions),
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

/** The mean over seeds in one run; undefined where no seed has reached it. */
export function meanOfRun(
  { curve }: ConditionRuns,
  run: number,
  measure: PipelineMeasure,
): number | undefined {
  const seeds = curve.find((point) => point.run === run)?.seeds ?? [];
  if (seeds.length === 0) return undefined;
  return seeds.reduce((sum, figures) => sum + figures[measure], 0) / seeds.length;
}

/** One measure with lessons against without. */
export interface RunDifference extends Difference<PipelineMeasure> {
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
export interface PipelineCost {
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
