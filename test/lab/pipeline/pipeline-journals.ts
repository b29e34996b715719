import type {
  FinishedRun,
  PipelineCondition,
  PipelineHead,
  PipelineJournal,
  StageRecord,
} from '../../../lab/suites/pipeline/pipeline-journal.ts';
import { createRandom } from '../../../src/base/random.ts';

export const head = (over: Partial<PipelineHead> = {}): PipelineHead => ({
  run: 'p1',
  suite: 'pipeline',
  options: { failures: 3 },
  policy: 'lab/m',
  conditions: ['baseline', 'skills'],
  seeds: [1, 2, 3],
  runs: 5,
  scored: 19,
  mostRefines: 4,
  conventions: [
    { id: 'owner', title: 'documents have an owner', stages: ['stage-0', 'stage-1'] },
    { id: 'grade', title: 'judgements are graded', stages: ['stage-1'] },
  ],
  startedAt: '2026-03-02T09:00:00.000Z',
  version: '0.1.0',
  notes: [],
  ...over,
});

export const stage = (over: Partial<StageRecord> = {}): StageRecord => ({
  stage: 'stage-0',
  kind: 'model',
  isScorable: true,
  status: 'completed',
  attempts: 1,
  refines: 0,
  broken: [],
  reasons: [],
  lessons: [],
  inputTokens: 100,
  outputTokens: 20,
  ms: 30,
  ...over,
});

export const finished = (over: Partial<FinishedRun> = {}): FinishedRun => ({
  condition: 'baseline',
  seed: 1,
  run: 1,
  stages: Array.from({ length: 19 }, (_, at) => stage({ stage: `stage-${at}` })),
  lessons: [],
  policyMs: 100,
  ...over,
});

/** A run whose stages are sent back with this probability, independently. */
function simulateRun(
  place: { readonly condition: PipelineCondition; readonly seed: number; readonly run: number },
  chance: number,
  name: string,
): FinishedRun {
  const random = createRandom(`${name}/${place.condition}/${place.seed}/${place.run}`);
  const stages = Array.from({ length: 19 }, (_, at) => {
    const refines = random.next() < chance ? 1 + random.below(2) : 0;
    const isBroken = refines > 0 && at < 2;
    return stage({ stage: `stage-${at}`, refines, broken: isBroken ? ['owner'] : [] });
  });
  return finished({ ...place, stages });
}

/** `chance` is the probability that a stage is sent back under a condition in a run. */
export function simulatePipelineJournal(
  name: string,
  chance: (condition: PipelineCondition, run: number) => number,
  over: Partial<PipelineHead> = {},
): PipelineJournal {
  const made = head(over);
  const runs = made.seeds.flatMap((seed) =>
    made.conditions.flatMap((condition) =>
      Array.from({ length: made.runs }, (_, at) =>
        simulateRun({ condition, seed, run: at + 1 }, chance(condition, at + 1), name),
      ),
    ),
  );
  return { head: made, runs };
}
