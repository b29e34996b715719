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
 * The candidate against what serves, task by task, both with the same lessons and the same luck, until the evidence is
 * enough either way or there is no task left. Where all were weighed before, they are weighed again with other luck: it
 * comes to an end.
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
    // Side by side: while one is checked the other is sampled.
    const [candidate, serving] = await Promise.all([
      score(options, trial.served, task, pair),
      score(options, live, task, pair),
    ]);
    if (signal.aborted) return;
    // What serves could not be asked either: it is not the candidate.
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

/** Each task once, in the first round in which not all were weighed. */
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

/** What one attempt was worth, or why there is none. */
async function score<Task extends Named>(
  { rollOut, signal }: WeighOptions<Task>,
  served: Served,
  task: Task,
  seed: string,
): Promise<number | TrainingError> {
  try {
    const [attempt] = await rollOut(served, task, 1, { seed, signal });
    return attempt?.reward ?? new TrainingError('server', `${task.id} was not attempted`);
  } catch (error) {
    if (signal.aborted || error instanceof TrainingError)
      return error instanceof TrainingError ? error : new TrainingError('unknown', 'stopped');
    throw error;
  }
}
