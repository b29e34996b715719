import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { comparePipeline } from '../../bench/pipeline/compare-pipeline.ts';
import {
  type Measure,
  type MeasuredPairs,
  measurePairs,
  type RunPair,
} from '../../bench/pipeline/measure-pairs.ts';
import { createResearchPipeline, type ResearchPipeline } from '../../bench/pipeline/research-pipeline.ts';
import {
  createNullResearcher,
  createOracleResearcher,
  createScriptedResearcher,
} from '../../bench/pipeline/scripted-researcher.ts';
import type { ChatModel } from '../../core/chat.ts';
import { BenchError } from './bench-error.ts';
import { createOpenBed, type Policy } from './open-bed.ts';
import { USUAL_HABITS } from './policies.ts';
import type { BenchRun } from './run-bench.ts';

export interface PipelineReport {
  readonly run: string;
  readonly policy: string;
  /** Finished so far. */
  readonly seeds: readonly number[];
  /** Runs of each condition; the first teaches and is not compared. */
  readonly runs: number;
  readonly measures: Readonly<Record<Measure, MeasuredPairs>>;
}

/** Conventions are no secrets to a researcher who has seen other houses: some it follows by habit. */
const UNAIDED = 0.25;

/** The pipeline without and with lessons, seed by seed. Seeds that are done are kept: a stopped run goes on after them. */
export async function runPipelineBench(
  options: BenchRun & { readonly runs: number },
): Promise<PipelineReport> {
  const { seeds, runs, policy, run, signal } = options;
  const folder = path.join(options.folder, run);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const pairs: RunPair[] = [];
  const done: number[] = [];
  let mostRefines = 1;
  for (const [at, seed] of seeds.entries()) {
    const pipeline = createResearchPipeline({ seed: `report/${seed}` });
    mostRefines = pipeline.mostRefines;
    const file = path.join(folder, `seed-${seed}-${runs}.json`);
    const found = existsSync(file)
      ? (JSON.parse(readFileSync(file, 'utf8')) as readonly RunPair[])
      : await compareSeed(options, folder, pipeline, seed);
    if (signal.aborted) break;
    if (!existsSync(file)) {
      writeFileSync(`${file}.new`, JSON.stringify(found), { mode: 0o600, flush: true });
      renameSync(`${file}.new`, file);
    }
    pairs.push(...found);
    done.push(seed);
    options.onProgress({
      condition: 'skills',
      seed,
      day: at,
      days: seeds.length,
      asked: at + 1,
      questions: seeds.length,
    });
  }
  return { run, policy, seeds: done, runs, measures: measurePairs(pairs, { seed: run, mostRefines }) };
}

async function compareSeed(
  options: BenchRun & { readonly runs: number },
  folder: string,
  pipeline: ResearchPipeline,
  seed: number,
): Promise<readonly RunPair[]> {
  const { env, log, failures, runs, signal } = options;
  const openBed = createOpenBed({ folder, policy: policyOf(options, pipeline), failures, env, log });
  const baseline = await openBed({ condition: 'baseline', seed, after: undefined });
  const skills = await openBed({ condition: 'skills', seed, after: undefined });
  try {
    const { pairs } = await comparePipeline({
      pipeline,
      arms: { baseline, skills },
      model: skills.model,
      agent: 'bench-pipeline',
      runs,
      signal,
    });
    return pairs;
  } finally {
    await baseline.close();
    await skills.close();
  }
}

function policyOf({ policy, habits, config }: BenchRun, pipeline: ResearchPipeline): Policy {
  const own = (model: ChatModel): Policy => ({ kind: 'own', model: () => model });
  if (policy === 'oracle') return own(createOracleResearcher(pipeline));
  if (policy === 'null') return own(createNullResearcher());
  if (policy === 'scripted') {
    const unaided = habits.unaided === USUAL_HABITS.unaided ? UNAIDED : habits.unaided;
    return own(createScriptedResearcher({ seed: pipeline.seed, pipeline, obey: habits.obey, unaided }));
  }
  const settings = config();
  const provider = policy.split('/', 1)[0] ?? '';
  if (Object.hasOwn(settings.providers, provider) || Object.hasOwn(settings.models, policy))
    return { kind: 'configured', name: policy, config: settings };
  throw new BenchError(`There is no policy "${policy}".`, 'say scripted, oracle or null, or provider/model');
}
