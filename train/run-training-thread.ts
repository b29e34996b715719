import { Worker } from 'node:worker_threads';
import type { Log } from '../src/base/log.ts';
import { terminateWorker } from '../src/base/sqlite-gate.ts';
import { connectThread, workerModule } from '../src/base/worker-thread.ts';
import type { LessonsApi } from '../src/core/daemon-api.ts';
import { asString, compact } from '../src/core/json.ts';
import type { Lesson } from '../src/core/lesson.ts';
import type { Records } from '../src/core/store.ts';
import type { RememberedRules, TaskRecall } from '../src/core/task-source.ts';
import { TrainingError } from '../src/core/training.ts';
import type { TrainingOutcome } from '../src/evidence/training-buffer.ts';
import { isGradingRule } from '../src/learn/rule-checks.ts';
import { createLiveReader } from './live-turns.ts';
import type { TaskLessons } from './policy-rollouts.ts';
import type { PromotionLog } from './promotion-log.ts';
import type { RecordedTasks, RecordedTasksOptions } from './recorded-tasks.ts';
import type { StepBudget } from './step-budget.ts';
import {
  type DaemonCalls,
  type DaemonSide,
  type PolicyEngine,
  type TrainingPlan,
  type TrainingSide,
  type TrainSettings,
  trainingErrors,
} from './training-plan.ts';
import type { TrainingEvent } from './training-window.ts';

/**
 * Runs a training window in its own thread. When the signal aborts it stops at the next safe point; when the reader stops
 * iterating it is terminated. Rejects with a TrainingError.
 */
export async function* runTrainingThread(
  plan: TrainingPlan,
  calls: DaemonCalls,
  signal: AbortSignal,
): AsyncGenerator<TrainingEvent, void, undefined> {
  const worker = new Worker(workerModule('./training-thread.ts', import.meta.url), { workerData: plan });
  const messages: DaemonSide['posts'][] = [];
  let wake: (() => void) | undefined;
  const receive = (message: DaemonSide['posts']): void => {
    messages.push(message);
    wake?.();
  };
  const thread = connectThread<DaemonSide, TrainingSide>(worker, {
    answers: {
      show: (_, query) => calls.show(query),
      generation: () => calls.generation(),
      rules: () => calls.rules(),
      tell: (_, event) => calls.tell(event),
      shortage: (_, clusters) => calls.shortage(clusters),
      recorded: () => calls.recorded(),
      grade: (_, answer) => calls.grade(answer),
      live: (_, query) => calls.live(query),
      reserve: (_, most, purpose) => calls.reserve(most, purpose),
      settle: (_, reservation, used) => calls.settle(reservation, used),
    },
    receive,
    ...trainingErrors,
  });
  const fail = (message: string): void => receive({ type: 'failed', message, category: 'unknown' });
  worker.on('error', (error: Error) => fail(error.message));
  worker.on('exit', () => fail('the training thread ended unexpectedly'));
  const stop = (): void => thread.post({ type: 'stop' });
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    for (;;) {
      const message = messages.shift();
      if (message === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        continue;
      }
      if (message.type === 'over') return;
      if (message.type === 'failed') throw new TrainingError(message.category, message.message, message.code);
      yield message.event;
    }
  } finally {
    signal.removeEventListener('abort', stop);
    await terminateWorker(worker);
  }
}

interface DaemonCallsOptions {
  readonly lessonsApi: LessonsApi;
  readonly generation: () => number;
  /** The agent whose lessons are shown with tasks that belong to nobody. */
  readonly agent: string;
  readonly recorded: RecordedTasks;
  /** The lessons that are shown now. */
  readonly lessons: () => readonly Lesson[];
  /** Which of the rules that weights kept they still keep, as far as is known. */
  readonly stillKept: (remembered: RememberedRules) => ReadonlySet<string>;
  readonly appraised: () => readonly TrainingOutcome[];
  readonly settings: Pick<TrainSettings, 'live'>;
  readonly engine: Pick<PolicyEngine, 'template'>;
  readonly decodeTurn: RecordedTasksOptions['decodeTurn'];
  readonly records: Records;
  readonly promotions: PromotionLog;
  readonly budget: StepBudget;
  /** Called when weights have moved. */
  readonly moved: () => void;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** The daemon's side of a training window's calls. When the record cannot be read, the window continues without its tasks. */
export function createDaemonCalls(options: DaemonCallsOptions): DaemonCalls {
  const { lessonsApi, recorded, promotions, log, signal } = options;
  const readLive = createLiveReader(options);
  const orNone = async <T>(read: Promise<readonly T[]>, what: string): Promise<readonly T[]> => {
    try {
      return await read;
    } catch (error) {
      log.warn({ err: error }, `${what} could not be read: training continues without them`);
      return [];
    }
  };
  const recall = async ({
    task,
    agent = options.agent,
    project,
    domain,
    remembered,
  }: TaskRecall): Promise<TaskLessons> => {
    const generation = options.generation();
    const without = remembered && [...options.stillKept(remembered)];
    const query = compact({ task, agent, project, domain, without });
    const { text, place } = await lessonsApi.recall({ ...query, isUnhurried: true, isForPrompt: true });
    const lessons = { text: asString(text) ?? '', generation };
    return place === 'message' ? { ...lessons, place } : lessons;
  };
  return {
    reserve: options.budget.reserve,
    settle: options.budget.settle,
    show: recall,
    generation: async () => options.generation(),
    rules: async () =>
      options
        .lessons()
        .filter(isGradingRule)
        .map(({ id, revision }) => ({ lesson: id, revision })),
    tell: async (event) => {
      const moves = await promotions.tell(event);
      if (moves.length > 0) options.moved();
      return { moves, promotion: promotions.state() };
    },
    shortage: (clusters) => promotions.shortage(clusters),
    recorded: () => orNone(recorded.gather(signal), 'recorded tasks'),
    grade: (answer) => recorded.grade(answer, signal),
    live: async (query) => (options.settings.live ? orNone(readLive(query), 'live turns') : []),
  };
}
