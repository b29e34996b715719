import type { StoredFact } from '../core/fact.ts';
import { asArray, asObject, asString, type JsonObject } from '../core/json.ts';
import type { AsyncReads } from '../core/store.ts';
import {
  measuredStages,
  measurePipeline,
  type PipelineFigures,
  type ReportedStage,
} from './pipeline-figures.ts';

/** The newest reports that are looked through. */
const MOST_REPORTS = 5000;
const LISTED_RUNS = 20;

interface StageReported extends ReportedStage {
  readonly pipeline: string;
  readonly run: string;
  readonly agent: string;
  readonly at: number;
}

/** The figures of everybody's pipelines, from the stages that they reported: of each run, oldest first, and their mean. */
export async function readPipelines(records: Pick<AsyncReads, 'newestOf'>): Promise<readonly JsonObject[]> {
  const reports = (await records.newestOf('event-reported', MOST_REPORTS)).flatMap(
    (one) => stageOf(one) ?? [],
  );
  const groups = groupBy(reports, ({ pipeline, agent }) => JSON.stringify([agent, pipeline]));
  return [...groups.values()].map(describe);
}

function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): ReadonlyMap<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item)) ?? [];
    group.push(item);
    groups.set(keyOf(item), group);
  }
  return groups;
}

function describe(reports: readonly StageReported[]): JsonObject {
  const [{ pipeline, agent } = { pipeline: '', agent: '' }] = reports;
  // A stage that another run reached, and this one did not, is not completed.
  const planned = [...new Set(reports.map(({ stage }) => stage))];
  const runs = [...groupBy(reports, ({ run }) => run)].map(([run, own]) => ({
    run,
    at: new Date(own.at(-1)?.at ?? 0).toISOString(),
    ...measurePipeline(measuredStages(own, planned)),
  }));
  return { name: pipeline, agent, count: runs.length, mean: meanOf(runs), runs: runs.slice(-LISTED_RUNS) };
}

function meanOf(runs: readonly PipelineFigures[]): JsonObject {
  const mean = (of: (run: PipelineFigures) => number): number =>
    runs.reduce((sum, run) => sum + of(run), 0) / runs.length;
  return {
    completion: mean((run) => run.completion),
    atOnce: mean((run) => run.atOnce),
    retryRate: mean((run) => run.retryRate),
    refinesPerStage: mean((run) => run.refinesPerStage),
    robustness: mean((run) => run.robustness),
  };
}

function stageOf({ at, fact }: StoredFact): StageReported | undefined {
  if (fact.type !== 'event-reported' || fact.kind !== 'pipeline_stage') return undefined;
  const { pipeline, run, stage, status, isOutage, refines } = asObject(fact.data);
  const [name, id, own, end] = [pipeline, run, stage, status].map(asString);
  if (name === undefined || id === undefined || own === undefined || end === undefined) return undefined;
  return {
    pipeline: name,
    run: id,
    agent: fact.agent ?? 'unknown',
    stage: own,
    at,
    isFailed: end === 'failed',
    isOutage: isOutage === true,
    refines: asArray(refines).length,
  };
}
