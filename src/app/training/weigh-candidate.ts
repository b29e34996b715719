import type { RollOut } from '../../train/training-run.ts';
import type { Promotions } from './promotions.ts';
import type { TrainNews } from './train-weights.ts';
import type { WorkTask } from './work-task.ts';

export interface WeighOptions {
  readonly promotions: Pick<Promotions, 'state' | 'tell'>;
  readonly rollOut: RollOut<WorkTask>;
  readonly tasks: readonly WorkTask[];
  readonly signal: AbortSignal;
}

/**
 * The candidate against what serves, task by task, both with the same lessons and the same luck, until the evidence is
 * enough either way.
 */
export async function* weighCandidate({
  promotions,
  rollOut,
  tasks,
  signal,
}: WeighOptions): AsyncGenerator<TrainNews, void, undefined> {
  const sums = { pairs: 0, candidate: 0, live: 0 };
  for (const task of tasks) {
    const { trial, live } = promotions.state();
    if (trial?.stage !== 'candidate' || signal.aborted) return;
    const { version } = trial.served;
    const pair = `${task.id}/${version}`;
    const scores: number[] = [];
    for (const { version: of, sampler } of [trial.served, live]) {
      const [attempt] = await rollOut({ version: of, sampler }, task, 1, { seed: pair, signal });
      if (attempt !== undefined) scores.push(attempt.reward);
    }
    const [candidate, serving] = scores;
    // A task that one of them could not be asked says nothing of either.
    if (candidate === undefined || serving === undefined) continue;
    const moves = await promotions.tell({ type: 'pair-scored', version, pair, candidate, live: serving });
    sums.pairs++;
    sums.candidate += candidate;
    sums.live += serving;
    yield { type: 'pair-weighed', ...sums };
    for (const moved of moves) yield { type: 'moved', moved };
  }
}
