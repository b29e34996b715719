import { blockMean } from '../../../stats/block-mean.ts';
import type { Figure } from '../../report/figure.ts';
import { type LessonLife, lessonLives } from '../../report/lessons.ts';
import type { Measure } from '../measure-pairs.ts';
import { figuresOf } from '../metrics.ts';
import { isCutShort, pairsIn } from '../pairs-in.ts';
import type { FinishedRun, PipelineHead, PipelineJournal } from '../pipeline-journal.ts';
import type { PipelineCondition } from '../pipeline-run.ts';
import { compareRuns, type RunDifference } from './compare-runs.ts';
import { type ConventionSummary, conventionsIn } from './conventions.ts';
import { MEASURES } from './measures.ts';
import { pipelineRemarks } from './pipeline-remarks.ts';
import { type Losses, lossesIn, type StageChange, stageChanges } from './stage-changes.ts';
import { stageRows } from './stage-rows.ts';

/** All that a run of the suite shows. Made from its journal and nothing else: the same journal gives the same report. */
export interface PipelineReport {
  readonly head: PipelineHead;
  readonly remarks: readonly string[];
  readonly conditions: readonly ConditionRuns[];
  /** Empty unless both conditions were run more than once. */
  readonly differences: readonly RunDifference[];
  readonly conventions: readonly ConventionSummary[];
  readonly stages: readonly StageChange[];
  readonly losses: Losses | undefined;
  /** Those that were shown first. A day of a life is a run, counted from 0. */
  readonly lessons: readonly LessonLife[];
  readonly costs: readonly RunCost[];
}

export type RunFigures = Readonly<Record<Measure, Figure>>;

/** What one condition came to. */
export interface ConditionRuns extends RunFigures {
  readonly condition: PipelineCondition;
  readonly finished: number;
  /** Run by run: each seed's figures. */
  readonly curve: readonly {
    readonly run: number;
    readonly seeds: readonly ({ readonly seed: number } & Readonly<Record<Measure, number>>)[];
  }[];
}

/** What a condition took, over all of its runs: the first is paid for too. */
export interface RunCost {
  readonly condition: PipelineCondition;
  readonly runs: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly ms: number;
  /** Outside the policy: what the gateway and its library add. */
  readonly overheadMs: number;
}

/** Pure: no clock, and random draws are seeded by what they are for. */
export function makePipelineReport(journal: PipelineJournal): PipelineReport {
  const { head, runs } = journal;
  const pairs = pairsIn(journal);
  const whole = pairs.filter(({ isCut }) => !isCut);
  const rows = stageRows(journal);
  const hasPairs = head.conditions.length === 2 && head.runs > 1;
  return {
    head,
    remarks: pipelineRemarks(journal),
    conditions: head.conditions.map((condition) => {
      const own = runs.filter((one) => one.condition === condition && !isCutShort(one));
      const counted = hasPairs
        ? whole.map((pair) => pair[condition])
        : own.filter(({ run }) => run > 1 || head.runs === 1);
      return {
        condition,
        finished: runs.filter((one) => one.condition === condition).length,
        ...figuresWithIntervals(counted, head.mostRefines),
        curve: curveOf(own),
      };
    }),
    differences: hasPairs && runs.length > 0 ? compareRuns(pairs, head.mostRefines) : [],
    conventions: runs.length === 0 ? [] : conventionsIn(head, rows),
    stages: stageChanges(whole),
    losses: whole.length === 0 ? undefined : lossesIn(whole),
    lessons: shownFirst(
      lessonLives(
        runs.flatMap(({ condition, seed, run, lessons }) =>
          lessons.map((lesson) => ({ condition, seed, day: run - 1, ...lesson })),
        ),
        rows,
      ),
    ),
    costs: head.conditions.flatMap((condition) => costOf(condition, runs)),
  };
}

/** The lessons of the baseline wait for a person: they are there to be counted, after those that did something. */
const shownFirst = (lives: readonly LessonLife[]): readonly LessonLife[] => [
  ...lives.filter(({ condition }) => condition === 'skills'),
  ...lives.filter(({ condition }) => condition !== 'skills'),
];

/** Over runs, drawn anew as a whole. */
function figuresWithIntervals(runs: readonly FinishedRun[], mostRefines: number): RunFigures {
  const of = (measure: Measure): Figure => {
    const high = measure === 'refinesPerStage' ? Math.max(1, mostRefines) : 1;
    const blocks = runs.map((run) => ({ sum: figuresOf(run)[measure], n: 1 }));
    const { mean, interval } = blockMean(blocks, { seed: 'figure', range: { low: 0, high } });
    return {
      ...(mean === undefined ? {} : { value: mean }),
      ...(interval === undefined ? {} : { interval }),
      n: runs.length,
      ungraded: 0,
    };
  };
  return Object.fromEntries(MEASURES.map(({ measure }) => [measure, of(measure)])) as unknown as RunFigures;
}

function curveOf(runs: readonly FinishedRun[]): ConditionRuns['curve'] {
  const numbers = [...new Set(runs.map(({ run }) => run))].sort((a, b) => a - b);
  return numbers.map((run) => ({
    run,
    seeds: runs
      .filter((one) => one.run === run)
      .map((one) => {
        const { completion, atOnce, retryRate, refinesPerStage, robustness } = figuresOf(one);
        return { seed: one.seed, completion, atOnce, retryRate, refinesPerStage, robustness };
      }),
  }));
}

function costOf(condition: PipelineCondition, runs: readonly FinishedRun[]): readonly RunCost[] {
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
