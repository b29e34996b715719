import { setMaxListeners } from 'node:events';
import { createRandom } from '../src/base/random.ts';
import { systemClock } from '../src/core/clock.ts';
import { compact } from '../src/core/json.ts';
import type { TaskSource, TrainingTask } from '../src/core/task-source.ts';
import type { PolicyTemplate } from '../src/core/training.ts';
import { withShuffledRewards } from './groups.ts';
import { liveQueryOf } from './live-turns.ts';
import { openChatTemplate } from './policy/open-chat-template.ts';
import type { PromotionLog } from './promotion-log.ts';
import type { RecordedTask } from './recorded-tasks.ts';
import { createRegressionTasks, readRegressionSuite } from './regression-suite.ts';
import { drawRememberTasks } from './remember-rules.ts';
import { withStepBudget } from './step-budget.ts';
import {
  canAttempt,
  createRecordedSource,
  loadTaskSource,
  mixTasks,
  withRecordedTasks,
} from './task-sources.ts';
import { connectTinker } from './tinker/connect-tinker.ts';
import type { TinkerEngine } from './tinker/tinker-engine.ts';
import type { DaemonCalls, TrainingPlan } from './training-plan.ts';
import { runTrainingWindow, type TrainingEvent, type TrainingWindowOptions } from './training-window.ts';

/** Runs one training window: opens the engine, the template and the tasks, and closes the engine at the end. */
export async function* runTrainingPlan(
  plan: TrainingPlan,
  duties: DaemonCalls,
  signal: AbortSignal,
): AsyncGenerator<TrainingEvent, void, undefined> {
  // Every attempt adds a listener.
  setMaxListeners(0, signal);
  const { control, ...tuning } = plan.tuning;
  const engine = await connectPlannedEngine(plan);
  try {
    const template = await openPlannedTemplate(plan);
    const { contextLength } = engine.profile;
    const tasks = await openTasks(plan, duties, (task) => canAttempt(task, template, contextLength));
    yield* runTrainingWindow(
      {
        engine: plan.isBudgeted ? withStepBudget(engine, duties, plan.price) : engine,
        template,
        promotions: followPromotions(plan, duties),
        folder: plan.folder,
        ...(plan.resume === undefined ? {} : { resume: plan.resume }),
        ...tasks,
        ...(plan.reading && { teachRate: plan.reading.teachRate }),
        show: async (query) => {
          const shown = await duties.show(query);
          return control === 'no-lessons' ? { ...shown, text: '' } : shown;
        },
        live: (wanted) => duties.live(liveQueryOf(wanted)),
        ...(plan.isLiveOnly === true ? { isLiveOnly: true } : {}),
        generation: duties.generation,
        rank: plan.rank,
        batch: plan.batch,
        ...tuning,
        ...(control === 'shuffled-rewards' ? { bend: withShuffledRewards } : {}),
        ...(await openRegression(plan)),
        isThin: plan.isThin,
        gateTasks: plan.gateTasks,
      },
      plan.steps,
      signal,
    );
  } finally {
    await engine.close();
  }
}

export const connectPlannedEngine = ({ engine }: Pick<TrainingPlan, 'engine'>): Promise<TinkerEngine> => {
  const { isTested, ...address } = engine;
  return connectTinker({
    ...address,
    ...(isTested ? {} : { selfTest: false }),
    fetch,
    clock: systemClock,
    random: createRandom(`training/${systemClock.now()}/${process.pid}`),
  });
};

/** The questions that new weights are asked besides the user's tasks. Rejects with a TrainingError that names the file. */
export async function openRegression({
  regression: file,
  regressionTasks,
}: Pick<TrainingPlan, 'regression' | 'regressionTasks'>): Promise<{
  readonly regression?: readonly TrainingTask[];
}> {
  if (file === undefined) return {};
  const questions = createRegressionTasks(await readRegressionSuite(file));
  const source = regressionTasks && (await loadTaskSource(regressionTasks));
  const tasks = (await source?.heldOut(new AbortController().signal)) ?? [];
  return { regression: [...questions, ...tasks] };
}

/** Promotions are decided in the daemon; the thread keeps the last state it was told. */
export function followPromotions(
  { promotion, turnedBack }: Pick<TrainingPlan, 'promotion' | 'turnedBack'>,
  duties: Pick<DaemonCalls, 'tell' | 'shortage'>,
): Omit<PromotionLog, 'pointer'> {
  let state = promotion;
  return {
    state: () => state,
    turnedBack: () => turnedBack,
    shortage: (clusters) => duties.shortage(clusters),
    tell: async (event) => {
      const outcome = await duties.tell(event);
      state = outcome.promotion;
      return outcome.moves;
    },
  };
}

export async function openPlannedTemplate({
  template: of,
}: Pick<TrainingPlan, 'template'>): Promise<PolicyTemplate> {
  if ('folder' in of) return openChatTemplate(of.folder);
  const loaded: { readonly openTemplate: () => Promise<PolicyTemplate> } = await import(of.module);
  return loaded.openTemplate();
}

type PlannedTasks = Pick<TrainingWindowOptions, 'tasks' | 'replay'> &
  Partial<Pick<TrainingWindowOptions, 'remember'>>;

/** The source that the plan names with the recorded tasks mixed in, or the recorded tasks alone. */
async function openTasks(
  { tasks, reading, remember, tuning, isLiveOnly, canarySince }: TrainingPlan,
  duties: DaemonCalls,
  fits: (task: RecordedTask) => boolean,
): Promise<PlannedTasks> {
  const recorded = createRecordedSource({
    gather: () => duties.recorded(),
    grade: ({ text, domain, agent, project }, answer) =>
      duties.grade(compact({ text, domain, agent, project, answer })),
    fits,
  });
  const replay = canarySince === undefined ? {} : { replay: () => recorded.unseenSince(canarySince) };
  if (remember !== undefined) {
    const { rate, count, at, replay: known } = remember;
    const remembered = { at, rules: await duties.rules() };
    const { seed = 1 } = tuning;
    const train: TaskSource['train'] = async (signal) =>
      drawRememberTasks({
        own: await recorded.train(signal),
        replay: known === undefined ? [] : await (await loadTaskSource(known)).train(signal),
        remembered,
        show: duties.show,
        count,
        seed,
      });
    return { ...replay, tasks: { ...recorded, train }, remember: { rate, remembered } };
  }
  if (isLiveOnly === true) return { ...replay, tasks: { ...recorded, train: async () => [] } };
  // Measured on the person's own tasks alone.
  if (reading !== undefined) {
    const own = await loadTaskSource(reading.tasks);
    const train: TaskSource['train'] = async (signal) =>
      mixTasks(await own.train(signal), await recorded.train(signal));
    return { ...replay, tasks: { ...recorded, train } };
  }
  // Another source is measured, and replayed, on its own held-out tasks.
  if (tasks !== undefined) return { tasks: withRecordedTasks(await loadTaskSource(tasks), recorded) };
  return { ...replay, tasks: recorded };
}
