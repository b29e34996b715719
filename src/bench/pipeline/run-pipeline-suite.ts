import type { Report } from '../../pipeline/stage-outcome.ts';
import type { Bed, OpenBed } from '../run/bed.ts';
import type { Progress } from '../run/run-suite.ts';
import type {
  FinishedRun,
  PipelineHead,
  PipelineJournal,
  PipelineJournalWriter,
  RunLesson,
} from './pipeline-journal.ts';
import type { PipelineCondition } from './pipeline-run.ts';
import type { ResearchPipeline } from './research-pipeline.ts';

export interface RunPipelineSuiteOptions {
  readonly head: PipelineHead;
  /** What a seed stands for. */
  readonly pipeline: (seed: number) => ResearchPipeline;
  readonly openBed: OpenBed;
  readonly journal: PipelineJournalWriter;
  /** What an earlier run of the same head has done. */
  readonly done: PipelineJournal | undefined;
  /** Whether all is learned before the next stage begins; else before the next run. */
  readonly settleEach: boolean;
  /** A day of it is one run of the pipeline. */
  readonly onProgress: (progress: Progress) => void;
  /** What was done of a condition and seed cannot be gone on with, and why. */
  readonly onBegunAgain: (place: { readonly condition: string; readonly seed: number }, why: unknown) => void;
  readonly signal: AbortSignal;
}

const AGENT = 'bench-pipeline';

/** All seeds and conditions, each run after the one before it. One that was stopped goes on after its last whole run. */
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
      const { bed, after } = await openAfter(options, condition, seed, before);
      finished -= before - after;
      const tell = (run: number): void =>
        options.onProgress({
          ...{ condition, seed, day: run - 1, days: head.runs },
          ...{ asked: finished, questions: total },
        });
      // Nothing that the baseline learns is shown: it need not be waited for.
      const settleEach = options.settleEach && condition !== 'baseline';
      try {
        for (let run = after + 1; run <= head.runs; run++) {
          if (signal.aborted) return;
          tell(run);
          const ended = await runOnce({ bed, pipeline, run, settleEach, signal });
          // A stage that an abort has cut off says nothing: the run is done again.
          if (ended === undefined) return;
          // What was learned is kept before the run counts: a kill between the two repeats it, never skips it.
          await bed.save(run - 1);
          journal.run({ condition, seed, ...ended });
          finished++;
          tell(run);
        }
      } finally {
        await bed.close();
      }
    }
  }
}

interface OneRun {
  readonly bed: Bed;
  readonly pipeline: ResearchPipeline;
  readonly run: number;
  readonly settleEach: boolean;
  readonly signal: AbortSignal;
}

async function runOnce({
  bed,
  pipeline,
  run,
  settleEach,
  signal,
}: OneRun): Promise<Omit<FinishedRun, 'condition' | 'seed'> | undefined> {
  const { speak, model } = bed;
  // Learning is slow beside a scripted policy and quick beside a real one: what a stage is shown must not hang on that.
  const report: Report = async (outcome) => {
    await bed.report(outcome);
    if (settleEach && outcome.status !== 'ok') await bed.settle();
  };
  const policyBefore = bed.policyMs();
  const { stages } = await pipeline.run({ speak, report, model, agent: AGENT, run, signal });
  if (signal.aborted) return undefined;
  const policyMs = bed.policyMs() - policyBefore;
  await bed.settle();
  const lessons = (await bed.lessons()).map(
    ({ id, name, state, text }): RunLesson => ({
      ...{ id, name, state },
      teaches: pipeline.conventions.filter((one) => one.isTaughtBy(text)).map((one) => one.id),
    }),
  );
  return { run, stages, lessons, policyMs };
}

/** What was learned may be gone, if a kill fell between keeping the next and saying so: then it is learned anew. */
async function openAfter(
  { openBed, journal, onBegunAgain }: RunPipelineSuiteOptions,
  condition: PipelineCondition,
  seed: number,
  before: number,
): Promise<{ readonly bed: Bed; readonly after: number }> {
  const fresh = (): Promise<Bed> => openBed({ condition, seed, after: undefined });
  if (before === 0) return { bed: await fresh(), after: 0 };
  try {
    return { bed: await openBed({ condition, seed, after: before - 1 }), after: before };
  } catch (error) {
    // Whatever else is wrong is wrong here too, and ends the run with nothing lost.
    const bed = await fresh();
    journal.begin(condition, seed);
    onBegunAgain({ condition, seed }, error);
    return { bed, after: 0 };
  }
}
