import { compact } from '../src/core/json.ts';
import type {
  AttemptLessons,
  LessonsForTask,
  MakeAttempt,
  PracticeTask,
  WeightsVerdict,
} from '../src/core/practice.ts';
import { ATTEMPT_PREFIX } from '../src/core/principal.ts';
import type { TrainingTask } from '../src/core/task-source.ts';
import { TrainingError } from '../src/core/training.ts';
import { countClusters, evaluateCandidate, type MeasuredSuite, replayCanary } from './measure-candidate.ts';
import { rolloutOf } from './policy-rollouts.ts';
import type { PromotionLog } from './promotion-log.ts';
import { type CheckpointMoved, canaryOf, type PromotionState } from './promotion-stages.ts';
import type { openRunRegistry } from './run-files.ts';
import type { RunCheckpoint } from './run-journal.ts';
import type { MakeRollouts } from './training-run.ts';
import type { TrainingEvent } from './training-window.ts';
import { notTrained } from './trial-plan.ts';

/** What new weights are measured with. */
export interface GateMeasurement {
  /** Of the gate split. Those without a check of their own are not used. */
  readonly tasks: readonly PracticeTask[];
  /** Makes attempts of the agents `candidate`, `canary` and `live`. */
  readonly attempt: MakeAttempt;
  readonly lessonsFor: LessonsForTask;
  readonly timeoutMs: number;
  /** Pairs of attempts at these tasks in one session; 200 by default. The next session goes on. */
  readonly mostPairs?: number;
}

interface GateParts {
  readonly promotions: Omit<PromotionLog, 'pointer'>;
  readonly book: Pick<ReturnType<typeof openRunRegistry>, 'propose' | 'leave'>;
  readonly newest: RunCheckpoint;
  readonly firstVersion: number;
  /** General questions, and how the policy answers them; absent: none are asked. */
  readonly regression?: MeasuredSuite<TrainingTask> | undefined;
  /** Few sessions are rated: a canary is compared on gate tasks that its measurement did not use. */
  readonly isThin: boolean;
  readonly signal: AbortSignal;
}

const MOST_PAIRS = 200;

/** Tasks that a check of their own grades: what weights can be measured on. */
const measurable = (tasks: readonly PracticeTask[]): readonly PracticeTask[] =>
  tasks.filter(({ check }) => check !== undefined && check.kind !== 'comparative');

/** Why weights that are trained now could not be measured on these tasks; undefined when they could. */
export async function whyNotMeasured(
  tasks: readonly PracticeTask[],
  promotions: Pick<PromotionLog, 'shortage'>,
): Promise<string | undefined> {
  const shortage = await promotions.shortage(countClusters(measurable(tasks)));
  return shortage && notTrained(shortage);
}

/**
 * Compares the newest weights of a run with the live ones, unless too few tasks can be graded. Nothing serves unmeasured. A canary
 * does not stand in the way: it is compared first where sessions do not decide, and a newer version that passes takes its place.
 */
export async function* measureOnGate(
  gate: GateMeasurement,
  parts: GateParts,
): AsyncGenerator<TrainingEvent, WeightsVerdict, undefined> {
  const { promotions, book, newest, firstVersion, regression, signal } = parts;
  const tasks = measurable(gate.tasks);
  const sums = { pairs: 0, candidate: 0, live: 0 };
  const left = (): number => (gate.mostPairs ?? MOST_PAIRS) - sums.pairs;
  const verdict = (
    outcome: WeightsVerdict['outcome'],
    why: string,
    version = newest.version,
  ): WeightsVerdict => ({
    outcome,
    why,
    version,
    pairs: sums.pairs,
    tasks: Math.min(countClusters(tasks), sums.pairs),
    ...(sums.pairs === 0 ? {} : { candidate: sums.candidate / sums.pairs, live: sums.live / sums.pairs }),
  });

  /** The last move of the version that is measured, if it moved. */
  async function* follow(
    measurement: AsyncGenerator<TrainingEvent, void, undefined>,
  ): AsyncGenerator<TrainingEvent, CheckpointMoved | undefined, undefined> {
    const before = { ...sums };
    let decided: CheckpointMoved | undefined;
    for await (const event of measurement) {
      yield event;
      if (event.type === 'pair-weighed') {
        sums.pairs = before.pairs + event.pairs;
        sums.candidate = before.candidate + event.candidate;
        sums.live = before.live + event.live;
      }
      if (event.type !== 'moved' || event.moved.to === 'replaced') continue;
      // A run continues from a candidate that was not shown to be as good, but not from one shown to be worse.
      if (event.moved.to === 'rejected' && event.moved.isWorse === true) book.leave();
      decided = event.moved;
    }
    return decided;
  }
  const rollOut = createGateRollouts(gate, promotions.state);
  const weigh = () =>
    follow(evaluateCandidate({ promotions, rollOut, tasks, regression, signal, mostPairs: left() }));
  const toVerdict = (moved: CheckpointMoved | undefined): WeightsVerdict => {
    if (moved?.to === 'not-tried') return verdict('unmeasured', `${moved.why}; ${ADD_TASKS}`, moved.version);
    if (moved !== undefined)
      return verdict(moved.to === 'rejected' ? 'refused' : 'promoted', moved.why, moved.version);
    const why = signal.aborted ? 'it was stopped' : `${sums.pairs} pairs did not decide`;
    return verdict('undecided', `${why}: the measurement goes on in the next session`);
  };
  try {
    if (parts.isThin && canaryOf(promotions.state()) !== undefined) {
      yield* follow(replayCanary({ promotions, rollOut, tasks, signal, mostPairs: left() }));
    }
    const { trial } = promotions.state();
    const isNew = newest.version > newestBefore(promotions.state(), firstVersion);
    const isLeft = trial?.stage === 'candidate';
    if (!isLeft && !isNew) return verdict('unchanged', 'there are no new weights');
    // Finish the measurement that an earlier session or training window left.
    if (isLeft) {
      const decided = yield* weigh();
      const isLast = trial.served.version === newest.version || !isNew;
      if (decided === undefined || isLast || decided.isWorse === true) return toVerdict(decided);
    }
    book.propose(newest);
    const { version, sampler } = newest;
    const proposal = { type: 'proposed', served: { version, sampler } } as const;
    const tested = { clusters: countClusters(tasks), isRegressed: regression !== undefined };
    for (const moved of await promotions.tell({ ...proposal, ...tested })) {
      yield { type: 'moved', moved };
      if (moved.to !== 'candidate') return toVerdict(moved);
    }
    return toVerdict(yield* weigh());
  } catch (error) {
    if (error instanceof GateStop || error instanceof TrainingError)
      return verdict('undecided', `the measurement stopped: ${error.message}`);
    throw error;
  }
}

/** The newest version that was compared. The first checkpoint of a run has learned nothing. */
const newestBefore = (state: ReturnType<GateParts['promotions']['state']>, firstVersion: number): number =>
  Math.max(firstVersion, state.live.version, canaryOf(state)?.served.version ?? 0);

const ADD_TASKS =
  'the tasks are those of the gate split that have a check: add some with instar practice tasks --add FILE.jsonl';

/** Nothing more can be attempted now, by either version. */
class GateStop extends Error {
  override readonly name = 'GateStop';
}

/** One attempt for each version of a pair: the same lessons, the same seed. */
function createGateRollouts(
  { attempt, lessonsFor, timeoutMs }: GateMeasurement,
  state: () => PromotionState,
): MakeRollouts<PracticeTask> {
  const agentOf = (version: number): string => {
    if (version === state().live.version) return 'live';
    return version === canaryOf(state())?.served.version ? 'canary' : 'candidate';
  };
  let shown: { readonly pair: string; readonly lessons: Promise<AttemptLessons> } | undefined;
  return async ({ version }, task, _count, { seed, signal }) => {
    const { prompt, agent, project, domain } = task;
    if (shown?.pair !== seed)
      shown = { pair: seed, lessons: lessonsFor(compact({ task: prompt, agent, project, domain })) };
    const made = await attempt(
      {
        id: `${ATTEMPT_PREFIX}weights/${seed}/${version}`,
        task,
        agent: agentOf(version),
        shown: await shown.lessons,
        seed,
        temperature: 1,
        timeoutMs,
      },
      signal,
    );
    const { outcome, sampled = [], generation } = made;
    if (
      outcome.is === 'infrastructure' &&
      (outcome.isOverBudget === true || outcome.retryAfterMs !== undefined)
    )
      throw new GateStop(outcome.why);
    if (outcome.is === 'infrastructure') throw new TrainingError('server', outcome.why);
    if (outcome.is === 'ungraded') return [];
    return [rolloutOf({ turns: sampled, reward: outcome.reward }, made.id, task.id, generation)];
  };
}
