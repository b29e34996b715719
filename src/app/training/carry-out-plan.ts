import { setMaxListeners } from 'node:events';
import { systemClock } from '../../core/clock.ts';
import type { Template } from '../../core/policy.ts';
import type { TaskSource } from '../../core/task-source.ts';
import { createRandom } from '../../stats/random.ts';
import { withShuffledRewards } from '../../train/controls.ts';
import { connectTinker } from '../../train/tinker/connect-tinker.ts';
import { liveQueryOf } from './live-turns.ts';
import { loadTaskSource } from './load-task-source.ts';
import { openChatTemplate } from './open-chat-template.ts';
import type { Promotions } from './promotions.ts';
import { createRecordedSource, withRecordedTasks } from './recorded-source.ts';
import type { RecordedTask } from './recorded-task.ts';
import type { TrainingDuties } from './thread-messages.ts';
import { type TrainNews, trainWeights } from './train-weights.ts';
import type { TrainingPlan } from './training-plan.ts';
import { canAttempt } from './training-task.ts';

/** Runs one training window: opens the engine, the template and the tasks, and closes the engine at the end. */
export async function* carryOutPlan(
  plan: TrainingPlan,
  duties: TrainingDuties,
  signal: AbortSignal,
): AsyncGenerator<TrainNews, void, undefined> {
  // Every attempt adds a listener.
  setMaxListeners(0, signal);
  const { control, ...tuning } = plan.tuning;
  const { url, key, baseModel, profile, isTested } = plan.engine;
  const engine = await connectTinker({
    url,
    baseModel,
    profile,
    ...(key === undefined ? {} : { key }),
    ...(isTested ? {} : { selfTest: false }),
    fetch,
    clock: systemClock,
    random: createRandom(`training/${systemClock.now()}/${process.pid}`),
  });
  try {
    const template = await openTemplate(plan.template);
    const { contextLength } = engine.profile;
    const tasks = await openTasks(plan, duties, (task) => canAttempt(task, template, contextLength));
    yield* trainWeights(
      {
        engine,
        template,
        promotions: follow(plan, duties),
        folder: plan.folder,
        tasks,
        show: async (query) => {
          const shown = await duties.show(query);
          return control === 'no-lessons' ? { ...shown, text: '' } : shown;
        },
        ...(plan.isLive ? { live: (wanted) => duties.live(liveQueryOf(wanted)) } : {}),
        generation: duties.generation,
        rank: plan.rank,
        batch: plan.batch,
        ...tuning,
        ...(control === 'shuffled-rewards' ? { bend: withShuffledRewards } : {}),
      },
      plan.steps,
      signal,
    );
  } finally {
    await engine.close();
  }
}

/** Promotions are decided in the daemon; the thread keeps the last state it was told. */
function follow(
  { promotion, turnedBack }: TrainingPlan,
  duties: TrainingDuties,
): Omit<Promotions, 'pointer'> {
  let state = promotion;
  return {
    state: () => state,
    turnedBack: () => turnedBack,
    tell: async (event) => {
      const told = await duties.tell(event);
      state = told.promotion;
      return told.moves;
    },
  };
}

async function openTemplate(of: TrainingPlan['template']): Promise<Template> {
  if ('folder' in of) return openChatTemplate(of.folder);
  const loaded: { readonly openTemplate: () => Promise<Template> } = await import(of.module);
  return loaded.openTemplate();
}

/** The source that the plan names with the recorded tasks mixed in, or the recorded tasks alone. */
async function openTasks(
  { tasks }: TrainingPlan,
  duties: TrainingDuties,
  fits: (task: RecordedTask) => boolean,
): Promise<TaskSource> {
  const recorded = createRecordedSource({
    gather: () => duties.recorded(),
    grade: ({ text, domain }, answer) => duties.grade({ task: text, domain, answer }),
    fits,
  });
  return tasks === undefined ? recorded : withRecordedTasks(await loadTaskSource(tasks), recorded);
}
