import type { Log } from '../src/base/log.ts';
import type { LessonsApi } from '../src/core/daemon-api.ts';
import { asString, compact } from '../src/core/json.ts';
import type { Records } from '../src/core/store.ts';
import type { TaskRecall } from '../src/core/task-source.ts';
import type { TrainingOutcome } from '../src/evidence/training-buffer.ts';
import { createLiveReader } from './live-turns.ts';
import type { TaskLessons } from './policy-rollouts.ts';
import type { PromotionLog } from './promotion-log.ts';
import type { RecordedTasks, RecordedTasksOptions } from './recorded-tasks.ts';
import type { StepBudget } from './step-budget.ts';
import type { DaemonCalls, PolicyEngine, TrainSettings } from './training-plan.ts';

export interface DaemonCallsOptions {
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
    live: (query) => orNone(readLive(query), 'live turns'),
  };
}
