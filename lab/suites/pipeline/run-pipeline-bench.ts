import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { confinementHere } from '../../../src/agent/sandbox/find-confiner.ts';
import { VERSION } from '../../../src/base/package.ts';
import { loadBenchJournal } from '../bench-journal.ts';
import { chooseResearcher, type Researcher, type ResearcherChoice } from '../choose-policy.ts';
import { createOpenEnvironment } from '../open-environment.ts';
import type { BenchRun } from '../run-bench.ts';
import { BenchError } from '../suites.ts';
import type { Convention } from './convention.ts';
import {
  loadPipelineJournal,
  openPipelineJournal,
  type PipelineCondition,
  type PipelineHead,
} from './pipeline-journal.ts';
import { createResearchPipeline, type ResearchPipeline } from './research-pipeline.ts';
import { runPipelineSuite } from './run-pipeline-suite.ts';
import { isScorable, modelTasks, type PipelineStage } from './stage.ts';

interface PipelineBenchRun extends Omit<BenchRun, 'habits'>, Pick<ResearcherChoice, 'habits'> {
  /** Runs of each condition; the first only teaches and is not compared. */
  readonly runs: number;
}

/** Runs or continues the pipeline suite, without and with lessons. Reports are made from the journal in its folder. */
export async function runPipelineBench(options: PipelineBenchRun): Promise<void> {
  const { run, seeds, policy, failures, settleEach, env, log, onProgress, signal } = options;
  const isRun = (name: string): name is PipelineCondition => name === 'baseline' || name === 'skills';
  const conditions = options.conditions.filter(isRun);
  if (conditions.length < options.conditions.length)
    throw new BenchError(
      `The pipeline suite trains no weights and has no condition ${options.conditions.find((name) => !isRun(name))}.`,
      'use --condition baseline,skills',
    );
  const confinement = await confinementHere();
  if (!confinement.ok)
    throw new BenchError(
      'The experiment of the pipeline suite runs code that a model wrote, and this machine cannot confine it.',
      confinement.why,
    );
  const pipelines = new Map(seeds.map((seed) => [seed, createResearchPipeline({ seed: `report/${seed}` })]));
  const pipeline = (seed: number): ResearchPipeline => {
    const found = pipelines.get(seed);
    if (found === undefined) throw new Error(`unknown seed ${seed}`);
    return found;
  };
  const researcher: Researcher =
    options.answers === undefined
      ? chooseResearcher(options, pipeline)
      : { policy: options.answers, options: {} };
  const first = pipeline(seeds[0] ?? 1);
  const head: PipelineHead = {
    run,
    suite: 'pipeline',
    options: { failures, settleEach, ...researcher.options },
    policy,
    conditions,
    seeds,
    runs: options.runs,
    scored: first.stages.filter(isScorable).length,
    mostRefines: first.mostRefines,
    conventions: first.conventions.map((one) => ({
      id: one.id,
      title: one.title,
      stages: stagesUnder(one, first.stages),
    })),
    startedAt: new Date().toISOString(),
    version: VERSION,
    notes: [],
  };
  const folder = path.join(options.folder, run);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = path.join(folder, 'journal.jsonl');
  const done = loadPipelineJournal(file);
  if (done === undefined ? loadBenchJournal(file) !== undefined : shapeOf(done.head) !== shapeOf(head))
    throw new BenchError(
      `The run ${run} was started with other options.`,
      'use the same options, or omit --run to start a new run',
    );
  const journal = openPipelineJournal(file, head, done);
  try {
    await runPipelineSuite({
      head,
      pipeline,
      openEnvironment: createOpenEnvironment({
        folder,
        policy: researcher.policy,
        failures,
        settleReports: settleEach,
        env,
        log,
      }),
      journal,
      done,
      settleEach,
      onProgress,
      onBegunAgain: (place, error) =>
        log.warn({ ...place, err: error }, 'the saved state is missing: starting again'),
      signal,
    });
  } finally {
    journal.close();
  }
}

/** The stages that a convention is for: a panel, where it is for one of its members. */
const stagesUnder = (convention: Convention, stages: readonly PipelineStage[]): readonly string[] =>
  stages
    .filter((stage) => modelTasks([stage]).some(({ id }) => convention.stages.includes(id)))
    .map(({ id }) => id);

/** A run cannot be continued with other options: its runs would not be comparable. */
const shapeOf = ({ options, policy, conditions, seeds, runs }: PipelineHead): string =>
  JSON.stringify([options, policy, conditions, seeds, runs]);
