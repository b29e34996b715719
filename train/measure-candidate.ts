import { hash } from 'node:crypto';
import { TrainingError } from '../src/core/training.ts';
import type { PromotionLog } from './promotion-log.ts';
import { type CheckpointMoved, canaryOf, type PolicyTrial, type PolicyVersion } from './promotion-stages.ts';
import type { MakeRollouts } from './training-run.ts';
import { clusterName, type TrialSuite } from './trial-evidence.ts';

/** What a measurement of weights reports. */
export type MeasurementEvent =
  /** Sums over the held-out tasks of this call. */
  | {
      readonly type: 'pair-weighed';
      readonly pairs: number;
      readonly candidate: number;
      readonly live: number;
    }
  /** Sums over general questions or replayed requests. */
  | {
      readonly type: 'check-weighed';
      readonly suite: Exclude<TrialSuite, 'tasks'>;
      readonly pairs: number;
      readonly candidate: number;
      readonly live: number;
    }
  /** The candidate cannot be sampled while the live weights can. */
  | { readonly type: 'weights-unfit'; readonly version: number; readonly why: string }
  | { readonly type: 'moved'; readonly moved: CheckpointMoved };

/** A task of a measurement. Those with the same root are variations of one task, and count as one. */
interface MeasuredTask {
  readonly id: string;
  readonly root?: string;
}

/** Tasks, and how a version attempts one of them. */
export interface MeasuredSuite<Task extends MeasuredTask> {
  readonly tasks: readonly Task[];
  readonly rollOut: MakeRollouts<Task>;
}

interface MeasurementOptions<Task extends MeasuredTask, Question extends MeasuredTask>
  extends MeasuredSuite<Task> {
  readonly promotions: Pick<PromotionLog, 'state' | 'tell'>;
  /** General questions; absent: none are asked. */
  readonly regression?: MeasuredSuite<Question> | undefined;
  /** Pairs in this call; no limit by default. */
  readonly mostPairs?: number;
  readonly signal: AbortSignal;
}

/** How many clusters there are: what decides whether a trial is opened. */
export const countClusters = (tasks: readonly MeasuredTask[]): number =>
  new Set(tasks.map(({ id, root = id }) => root)).size;

/**
 * Compares the candidate with the live weights task by task, with the same lessons and the same seeds: on held-out tasks until the
 * evidence suffices or they are used up, then on the regression suite. Stopped at any point, the next call continues.
 */
export async function* evaluateCandidate<Task extends MeasuredTask, Question extends MeasuredTask>(
  options: MeasurementOptions<Task, Question>,
): AsyncGenerator<MeasurementEvent, void, undefined> {
  const { promotions, tasks: all, regression, signal } = options;
  const begun = promotions.state().trial;
  // An earlier version of Instar opened trials without a plan.
  if (begun?.stage === 'candidate' && begun.plan === undefined) {
    const plan = { clusters: countClusters(all), isRegressed: regression !== undefined };
    await promotions.tell({ type: 'proposed', served: begun.served, ...plan });
  }
  yield* measure({ ...options, suite: 'tasks', trialOf: (trial) => trial?.better === undefined });
  const { trial } = promotions.state();
  if (signal.aborted || trial?.stage !== 'candidate' || trial.better === undefined) return;
  // The suite was switched off while the candidate was measured: nothing is left to ask.
  const { tasks, rollOut } = regression ?? { tasks: [], rollOut: async () => [] };
  yield* measure({ promotions, signal, tasks, rollOut, suite: 'regression', trialOf: () => true });
}

/** Compares the canary with the live weights on recorded requests that nothing of its measurement has used. */
export async function* replayCanary<Task extends MeasuredTask>(
  options: Omit<MeasurementOptions<Task, Task>, 'regression'>,
): AsyncGenerator<MeasurementEvent, void, undefined> {
  yield* measure({ ...options, suite: 'replay', trialOf: () => true });
}

interface SuiteMeasurement<Task extends MeasuredTask>
  extends Omit<MeasurementOptions<Task, Task>, 'regression'> {
  readonly suite: TrialSuite;
  /** Whether the trial is still at this suite. */
  readonly trialOf: (trial: PolicyTrial | undefined) => boolean;
}

async function* measure<Task extends MeasuredTask>(
  options: SuiteMeasurement<Task>,
): AsyncGenerator<MeasurementEvent, void, undefined> {
  const { promotions, tasks, suite, signal, mostPairs = Number.POSITIVE_INFINITY, trialOf } = options;
  const sums = { pairs: 0, candidate: 0, live: 0 };
  const onTrial = (): PolicyTrial | undefined => {
    const state = promotions.state();
    if (suite === 'replay') return canaryOf(state);
    return state.trial?.stage === 'candidate' && trialOf(state.trial) ? state.trial : undefined;
  };
  const first = onTrial();
  if (first === undefined) return;
  const { version } = first.served;
  for (const { task, pair, root } of pairsOf(tasks, first, suite)) {
    if (sums.pairs >= mostPairs) return;
    const trial = onTrial();
    if (trial?.served.version !== version || signal.aborted) return;
    const { live } = promotions.state();
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
        : { type: 'pair-scored', version, pair, root, suite, candidate, live: serving },
    );
    if (!isUnfit) {
      sums.pairs++;
      sums.candidate += candidate;
      sums.live += serving;
      yield suite === 'tasks' ? { type: 'pair-weighed', ...sums } : { type: 'check-weighed', suite, ...sums };
    }
    for (const moved of moves) yield { type: 'moved', moved };
  }
  // A canary waits for new requests instead.
  if (signal.aborted || suite === 'replay' || onTrial()?.served.version !== version) return;
  for (const moved of await promotions.tell({ type: 'measured-out', version }))
    yield { type: 'moved', moved };
}

interface Pair<Task> {
  readonly task: Task;
  readonly root: string;
  readonly pair: string;
}

/**
 * The pairs of all clusters that are not complete, one cluster after the other: each gets as many as the trial plans, of its tasks
 * in turn, with new seeds when a task comes again. The order of the clusters is drawn for each version; requests are replayed in the
 * order in which they are given.
 */
function pairsOf<Task extends MeasuredTask>(
  tasks: readonly Task[],
  { served: { version }, plan, roots = [], pairs }: PolicyTrial,
  suite: TrialSuite,
): readonly Pair<Task>[] {
  const clusters = new Map<string, Task[]>();
  for (const task of tasks) {
    const { id, root = id } = task;
    clusters.set(root, [...(clusters.get(root) ?? []), task]);
  }
  const [done, known] = [new Set(roots), new Set(pairs)];
  const repeats = suite === 'regression' ? 1 : (plan?.repeats ?? 1);
  return [...clusters]
    .filter(([root]) => !done.has(clusterName(suite, root)))
    .map(([root, own]) => ({ root, own, place: hash('sha256', JSON.stringify([version, root])) }))
    .sort((a, b) => (suite === 'replay' ? 0 : a.place < b.place ? -1 : 1))
    .flatMap(({ root, own }) =>
      Array.from({ length: repeats }, (_, at) => {
        const task = own[at % own.length] as Task;
        const round = Math.floor(at / own.length);
        return { task, root, pair: `${task.id}/${version}${round === 0 ? '' : `/${round}`}` };
      }),
    )
    .filter(({ pair }) => !known.has(pair));
}

/** The reward of one attempt, or why there is none. */
async function score<Task extends MeasuredTask>(
  { rollOut, signal }: Pick<SuiteMeasurement<Task>, 'rollOut' | 'signal'>,
  served: PolicyVersion,
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
