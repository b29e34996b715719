import { compact } from '../core/json.ts';
import {
  ATTEMPT_PREFIX,
  type AttemptLessons,
  type LessonsForTask,
  type MakeAttempt,
  type PracticeTask,
  type WeightsVerdict,
} from '../core/practice.ts';
import { TrainingError } from '../core/training.ts';
import { rolloutOf } from './policy-rollouts.ts';
import type { CheckpointMoved } from './promotion.ts';
import type { PromotionLog } from './promotion-log.ts';
import type { openRunRegistry } from './run-files.ts';
import type { RunCheckpoint } from './run-journal.ts';
import type { MakeRollouts } from './training-run.ts';
import { evaluateCandidate, type TrainingEvent } from './training-window.ts';

/** What new weights are measured with. */
export interface GateMeasurement {
  /** Of the gate split. Those without a check of their own are not used. */
  readonly tasks: readonly PracticeTask[];
  /** Makes attempts of the agents `candidate` and `live`. */
  readonly attempt: MakeAttempt;
  readonly lessonsFor: LessonsForTask;
  readonly timeoutMs: number;
  /** Pairs of attempts in one session; 200 by default. Tasks are used again with new seeds until then. */
  readonly mostPairs?: number;
}

interface GateParts {
  readonly promotions: Omit<PromotionLog, 'pointer'>;
  readonly book: Pick<ReturnType<typeof openRunRegistry>, 'propose' | 'leave'>;
  readonly newest: RunCheckpoint;
  readonly firstVersion: number;
  readonly signal: AbortSignal;
}

const MOST_PAIRS = 200;
/** Weights that are better on a few tasks alone have learned these tasks. */
const FEWEST_TASKS = 5;

/** Compares the newest weights of a run with the live ones, unless too few tasks can be graded. Nothing serves unmeasured. */
export async function* measureOnGate(
  gate: GateMeasurement,
  parts: GateParts,
): AsyncGenerator<TrainingEvent, WeightsVerdict, undefined> {
  const { promotions, book, newest, firstVersion, signal } = parts;
  const { trial, live } = promotions.state();
  const tasks = gate.tasks.filter(({ check }) => check !== undefined && check.kind !== 'comparative');
  const sums = { pairs: 0, candidate: 0, live: 0 };
  const verdict = (
    outcome: WeightsVerdict['outcome'],
    why: string,
    version = newest.version,
  ): WeightsVerdict => ({
    outcome,
    why,
    version,
    pairs: sums.pairs,
    tasks: Math.min(tasks.length, sums.pairs),
    ...(sums.pairs === 0 ? {} : { candidate: sums.candidate / sums.pairs, live: sums.live / sums.pairs }),
  });

  if (trial?.stage === 'canary')
    return verdict(
      'unmeasured',
      `version ${trial.served.version} serves a share of the sessions: nothing else is proposed until that is decided`,
    );
  // The first checkpoint of a run has learned nothing.
  const isNew = newest.version > Math.max(firstVersion, live.version);
  if (trial === undefined && !isNew) return verdict('unchanged', 'there are no new weights');
  const roots = new Set(tasks.map(({ root }) => root)).size;
  if (roots < FEWEST_TASKS)
    return verdict(
      'unmeasured',
      `new weights are measured on at least ${FEWEST_TASKS} tasks of the gate split that have a check, and there are ${roots}: add tasks with instar practice tasks add FILE.jsonl`,
    );

  async function* weigh(): AsyncGenerator<TrainingEvent, CheckpointMoved | undefined, undefined> {
    const rollOut = createGateRollouts(gate, () => promotions.state().trial?.served.version);
    const before = sums.pairs;
    while (promotions.state().trial?.stage === 'candidate' && !signal.aborted) {
      const left = (gate.mostPairs ?? MOST_PAIRS) - (sums.pairs - before);
      if (left <= 0) return undefined;
      const start = { ...sums };
      let decided: CheckpointMoved | undefined;
      for await (const news of evaluateCandidate({
        promotions,
        rollOut,
        tasks: tasks.slice(0, left),
        signal,
      })) {
        yield news;
        if (news.type === 'pair-weighed') {
          sums.pairs = start.pairs + news.pairs;
          sums.candidate = start.candidate + news.candidate;
          sums.live = start.live + news.live;
        }
        if (news.type !== 'moved') continue;
        // A run continues from a candidate that was not shown to be as good, but not from one shown to be worse.
        if (news.moved.to === 'rejected' && news.moved.isWorse === true) book.leave();
        decided = news.moved;
      }
      if (decided !== undefined) return decided;
    }
    return undefined;
  }
  const toVerdict = (moved: CheckpointMoved | undefined): WeightsVerdict => {
    if (moved !== undefined)
      return verdict(moved.to === 'rejected' ? 'refused' : 'promoted', moved.why, moved.version);
    const why = signal.aborted ? 'it was stopped' : `${sums.pairs} pairs did not decide`;
    return verdict('undecided', `${why}: the measurement goes on in the next session`);
  };
  try {
    // Finish the measurement that an earlier session or training window left.
    if (trial !== undefined) {
      const decided = yield* weigh();
      const isLast = trial.served.version === newest.version || !isNew;
      if (decided === undefined || isLast || decided.isWorse === true) return toVerdict(decided);
    }
    book.propose(newest);
    const { version, sampler } = newest;
    for (const moved of await promotions.tell({ type: 'proposed', served: { version, sampler } })) {
      yield { type: 'moved', moved };
      if (moved.to === 'rejected') return toVerdict(moved);
    }
    return toVerdict(yield* weigh());
  } catch (error) {
    if (error instanceof GateStop || error instanceof TrainingError)
      return verdict('undecided', `the measurement stopped: ${error.message}`);
    throw error;
  }
}

/** Nothing more can be attempted now, by either version. */
class GateStop extends Error {
  override readonly name = 'GateStop';
}

/** One attempt for each version of a pair: the same lessons, the same seed. */
function createGateRollouts(
  { attempt, lessonsFor, timeoutMs }: GateMeasurement,
  candidate: () => number | undefined,
): MakeRollouts<PracticeTask> {
  let shown: { readonly pair: string; readonly lessons: Promise<AttemptLessons> } | undefined;
  return async ({ version }, task, _count, { seed, signal }) => {
    const { prompt, agent, project, domain } = task;
    if (shown?.pair !== seed)
      shown = { pair: seed, lessons: lessonsFor(compact({ task: prompt, agent, project, domain })) };
    const made = await attempt(
      {
        id: `${ATTEMPT_PREFIX}weights/${seed}/${version}`,
        task,
        agent: version === candidate() ? 'candidate' : 'live',
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
