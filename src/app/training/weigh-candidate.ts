import { TrainingError } from '../../core/training.ts';
import type { Served } from '../../train/policy-pointer.ts';
import type { Promotion } from '../../train/promotion.ts';
import type { RollOut } from '../../train/training-run.ts';
import type { Promotions } from './promotions.ts';
import type { TrainNews } from './train-weights.ts';

export interface WeighOptions<Task extends Named> {
  readonly promotions: Pick<Promotions, 'state' | 'tell'>;
  readonly rollOut: RollOut<Task>;
  readonly tasks: readonly Task[];
  readonly signal: AbortSignal;
}

/**
 * Compares the candidate with the live weights task by task, with the same lessons and the same seeds, until the evidence
 * suffices or the tasks run out. When all tasks were used in earlier windows, they are used again with new seeds, so that the
 * measurement ends.
 */
export async function* weighCandidate<Task extends Named>(
  options: WeighOptions<Task>,
): AsyncGenerator<TrainNews, void, undefined> {
  const { promotions, tasks, signal } = options;
  const sums = { pairs: 0, candidate: 0, live: 0 };
  for (const { task, pair } of pairsOf(tasks, promotions.state().trial)) {
    const { trial, live } = promotions.state();
    if (trial?.stage !== 'candidate' || signal.aborted) return;
    const { version } = trial.served;
    // In parallel: while one is verified the other is sampled.
    const [candidate, serving] = await Promise.all([
      score(options, trial.served, task, pair),
      score(options, live, task, pair),
    ]);
    if (signal.aborted) return;
    // The live weights failed too: it is not the candidate's fault.
    if (serving instanceof TrainingError) throw serving;
    const isUnfit = candidate instanceof TrainingError;
    if (isUnfit) yield { type: 'weights-unfit', version, why: candidate.message };
    const moves = await promotions.tell(
      isUnfit
        ? { type: 'probed', version, isWell: false }
        : { type: 'pair-scored', version, pair, candidate, live: serving },
    );
    if (!isUnfit) {
      sums.pairs++;
      sums.candidate += candidate;
      sums.live += serving;
      yield { type: 'pair-weighed', ...sums };
    }
    for (const moved of moves) yield { type: 'moved', moved };
  }
}

interface Named {
  readonly id: string;
}

interface Pair<Task> {
  readonly task: Task;
  readonly pair: string;
}

/** Each task once, in the first round that is not complete. */
function pairsOf<Task extends Named>(
  tasks: readonly Task[],
  trial: Promotion['trial'],
): readonly Pair<Task>[] {
  if (trial === undefined || tasks.length === 0) return [];
  const known = new Set(trial.pairs);
  for (let round = 0; ; round++) {
    const name = (task: Task): string =>
      `${task.id}/${trial.served.version}${round === 0 ? '' : `/${round}`}`;
    const left = tasks.map((task) => ({ task, pair: name(task) })).filter(({ pair }) => !known.has(pair));
    if (left.length > 0) return left;
  }
}

/** The reward of one attempt, or why there is none. */
async function score<Task extends Named>(
  { rollOut, signal }: WeighOptions<Task>,
  served: Served,
  task: Task,
  seed: string,
): Promise<number | TrainingError> {
  try {
    const [attempt] = await rollOut(served, task, 1, { seed, signal });
    return attempt?.reward ?? new TrainingError('server', `${task.id} could not be graded`);
  } catch (error) {
    if (signal.aborted || error instanceof TrainingError)
      return error instanceof TrainingError ? error : new TrainingError('unknown', 'stopped');
    throw error;
  }
}
