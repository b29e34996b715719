import { Worker } from 'node:worker_threads';
import type { Log } from '../src/base/log.ts';
import { terminateWorker } from '../src/base/sqlite-gate.ts';
import { workerModule } from '../src/base/worker-thread.ts';
import type { LessonsApi } from '../src/core/daemon-api.ts';
import { asString, compact } from '../src/core/json.ts';
import type { Records } from '../src/core/store.ts';
import type { TaskRecall } from '../src/core/task-source.ts';
import { TrainingError } from '../src/core/training.ts';
import type { TrainingOutcome } from '../src/evidence/training-buffer.ts';
import { createLiveReader, liveEstimators } from './live-turns.ts';
import type { TaskLessons } from './policy-rollouts.ts';
import type { PromotionLog } from './promotion-log.ts';
import type { RecordedTasks, RecordedTasksOptions } from './recorded-tasks.ts';
import { shapeAttempts, type WindowShaping } from './shape-rollouts.ts';
import type { StepBudget } from './step-budget.ts';
import type {
  DaemonCall,
  DaemonCalls,
  PolicyEngine,
  TrainingPlan,
  TrainingThreadCommand,
  TrainingThreadMessage,
  TrainSettings,
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
  const thread = new Worker(workerModule('./training-thread.ts', import.meta.url), { workerData: plan });
  const messages: TrainingThreadMessage[] = [];
  let wake: (() => void) | undefined;
  const hear = (message: TrainingThreadMessage): void => {
    messages.push(message);
    wake?.();
  };
  const say = (message: TrainingThreadCommand): void => thread.postMessage(message);
  const stop = (): void => say({ type: 'stop' });
  thread.on('message', (message: TrainingThreadMessage) => {
    if (message.type !== 'question') return hear(message);
    const { id, question } = message;
    answer(question, calls).then(
      (value) => say({ type: 'answer', id, value }),
      (error: Error) => say({ type: 'no-answer', id, message: error.message }),
    );
  });
  const ended = (message: string): void => hear({ type: 'failed', message, category: 'unknown' });
  thread.on('error', (error: Error) => ended(error.message));
  thread.on('exit', () => ended('the training thread ended unexpectedly'));
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
      if (message.type === 'news') yield message.news;
    }
  } finally {
    signal.removeEventListener('abort', stop);
    await terminateWorker(thread);
  }
}

const answer = (question: DaemonCall, calls: DaemonCalls): Promise<unknown> => {
  switch (question.ask) {
    case 'show':
      return calls.show(question.query);
    case 'proven':
      return calls.proven(question.query);
    case 'generation':
      return calls.generation();
    case 'tell':
      return calls.tell(question.event);
    case 'shortage':
      return calls.shortage(question.clusters);
    case 'recorded':
      return calls.recorded();
    case 'grade':
      return calls.grade(question.answer);
    case 'shape':
      return calls.shape(question.group);
    case 'live':
      return calls.live(question.query);
    case 'reserve':
      return calls.reserve(question.most, question.purpose);
    case 'settle':
      return calls.settle(question.reservation, question.used);
  }
};

interface DaemonCallsOptions {
  readonly lessonsApi: LessonsApi;
  readonly generation: () => number;
  /** The agent whose lessons are shown with tasks that belong to nobody. */
  readonly agent: string;
  readonly recorded: RecordedTasks;
  readonly appraised: () => readonly TrainingOutcome[];
  readonly settings: Pick<TrainSettings, 'live'>;
  readonly engine: Pick<PolicyEngine, 'template'>;
  readonly decodeTurn: RecordedTasksOptions['decodeTurn'];
  readonly records: Records;
  readonly promotions: PromotionLog;
  readonly budget: StepBudget;
  /** What rewards are made of; absent: of the task's alone. */
  readonly shaping?: WindowShaping | undefined;
  /** Called when weights have moved. */
  readonly moved: () => void;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** The daemon's side of a training window's calls. When the record cannot be read, the window continues without its tasks. */
export function createDaemonCalls(options: DaemonCallsOptions): DaemonCalls {
  const { lessonsApi, recorded, promotions, log, signal } = options;
  const readLive = createLiveReader({
    ...options,
    estimators: liveEstimators(options.settings.live),
    template: () => options.engine.template(),
  });
  const orNone = async <T>(read: Promise<readonly T[]>, what: string): Promise<readonly T[]> => {
    try {
      return await read;
    } catch (error) {
      log.warn({ err: error }, `${what} could not be read: training continues without them`);
      return [];
    }
  };
  const recall = async (
    { task, agent = options.agent, project, domain }: TaskRecall,
    isProven: boolean,
  ): Promise<TaskLessons> => {
    const generation = options.generation();
    const query = compact({ task, agent, project, domain });
    const { text, place } = await lessonsApi.recall({
      ...query,
      isUnhurried: true,
      isForPrompt: true,
      isProven,
    });
    const lessons = { text: asString(text) ?? '', generation };
    return place === 'message' ? { ...lessons, place } : lessons;
  };
  return {
    reserve: options.budget.reserve,
    settle: options.budget.settle,
    show: (query) => recall(query, false),
    proven: (query) => recall(query, true),
    generation: async () => options.generation(),
    tell: async (event) => {
      const moves = await promotions.tell(event);
      if (moves.length > 0) options.moved();
      return { moves, promotion: promotions.state() };
    },
    shortage: (clusters) => promotions.shortage(clusters),
    recorded: () => orNone(recorded.gather(signal), 'recorded tasks'),
    grade: (answer) => recorded.grade(answer, signal),
    shape: async (group) =>
      options.shaping === undefined ? [] : shapeAttempts(group, options.shaping, signal),
    live: (query) => orNone(readLive(query), 'live turns'),
  };
}
