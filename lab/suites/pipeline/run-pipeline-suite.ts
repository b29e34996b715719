import type { GatewayClient } from '../../../src/core/gateway-client.ts';
import type { StageReport } from '../../../src/pipeline/stage-outcome.ts';
import type { BenchEnvironment, OpenEnvironment } from '../bench-environment.ts';
import type { RunProgress } from '../run-suite.ts';
import type {
  FinishedRun,
  PipelineCondition,
  PipelineHead,
  PipelineJournal,
  PipelineJournalWriter,
  RunLesson,
} from './pipeline-journal.ts';
import type { ResearchPipeline } from './research-pipeline.ts';

interface RunPipelineSuiteOptions {
  readonly head: PipelineHead;
  /** The pipeline of a seed. */
  readonly pipeline: (seed: number) => ResearchPipeline;
  readonly openEnvironment: OpenEnvironment;
  readonly journal: PipelineJournalWriter;
  /** What an earlier run with the same head has written. */
  readonly done: PipelineJournal | undefined;
  /** Whether to wait for the learner before each stage; otherwise only before the next run. */
  readonly settleEach: boolean;
  /** A day is one run of the pipeline. */
  readonly onProgress: (progress: RunProgress) => void;
  /** The runs of a condition and seed cannot be continued and start again, and why. */
  readonly onBegunAgain: (place: { readonly condition: string; readonly seed: number }, why: unknown) => void;
  readonly signal: AbortSignal;
}

const AGENT = 'bench-pipeline';

/** All seeds and conditions, one run after the other. A stopped one continues after its last complete run. */
export async function runPipelineSuite(options: RunPipelineSuiteOptions): Promise<void> {
  const { head, done, journal, signal } = options;
  const total = head.seeds.length * head.conditions.length * head.runs;
  let finished = done?.runs.length ?? 0;
  for (const seed of head.seeds) {
    const pipeline = options.pipeline(seed);
    for (const condition of head.conditions) {
      const before = done?.runs.filter((one) => one.seed === seed && one.condition === condition).length ?? 0;
      if (before === head.runs) continue;
      if (signal.aborted) return;
      const { environment, after } = await openAfter(options, condition, seed, before);
      finished -= before - after;
      const tell = (run: number): void =>
        options.onProgress({
          ...{ condition, seed, day: run - 1, days: head.runs },
          ...{ asked: finished, questions: total },
        });
      try {
        for (let run = after + 1; run <= head.runs; run++) {
          if (signal.aborted) return;
          tell(run);
          const ended = await runOnce({ environment, pipeline, run, settleEach: options.settleEach, signal });
          // An aborted run is incomplete: it is done again.
          if (ended === undefined) return;
          // Saved before the run counts: a kill between the two repeats it and never skips it.
          await environment.save(run - 1);
          journal.run({ condition, seed, ...ended });
          finished++;
          tell(run);
        }
      } finally {
        await environment.close();
      }
    }
  }
}

interface OneRun {
  readonly environment: BenchEnvironment;
  readonly pipeline: ResearchPipeline;
  readonly run: number;
  readonly settleEach: boolean;
  readonly signal: AbortSignal;
}

async function runOnce({
  environment,
  pipeline,
  run,
  settleEach,
  signal,
}: OneRun): Promise<Omit<FinishedRun, 'condition' | 'seed'> | undefined> {
  const { model } = environment;
  // Learning is slower than a scripted policy and faster than a real one: neither the lessons in a prompt nor what the learner reads
  // together may depend on that. The same holds for the baseline, whose lessons are reported.
  const speak: GatewayClient = async (request, speaker, ending) => {
    const said = await environment.speak(request, speaker, ending);
    if (settleEach) await environment.settle();
    return said;
  };
  const report: StageReport = async (outcome) => {
    await environment.report(outcome);
    if (settleEach && outcome.status !== 'ok') await environment.settle();
  };
  const policyBefore = environment.policyMs();
  const { stages } = await pipeline.run({ speak, report, model, agent: AGENT, run, signal });
  if (signal.aborted) return undefined;
  const policyMs = environment.policyMs() - policyBefore;
  await environment.settle();
  const lessons = (await environment.lessons()).map(
    ({ id, name, state, text }): RunLesson => ({
      ...{ id, name, state },
      teaches: pipeline.conventions.filter((one) => one.isTaughtBy(text)).map((one) => one.id),
    }),
  );
  return { run, stages, lessons, policyMs };
}

/** The saved state can be missing if a kill came between saving the next one and writing the journal: then all runs start again. */
async function openAfter(
  { openEnvironment, journal, onBegunAgain }: RunPipelineSuiteOptions,
  condition: PipelineCondition,
  seed: number,
  before: number,
): Promise<{ readonly environment: BenchEnvironment; readonly after: number }> {
  const fresh = (): Promise<BenchEnvironment> => openEnvironment({ condition, seed, after: undefined });
  if (before === 0) return { environment: await fresh(), after: 0 };
  try {
    return { environment: await openEnvironment({ condition, seed, after: before - 1 }), after: before };
  } catch (error) {
    // Any other problem fails here too and ends the run without losing anything.
    const environment = await fresh();
    journal.begin(condition, seed);
    onBegunAgain({ condition, seed }, error);
    return { environment, after: 0 };
  }
}
