import { setMaxListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { HOUSE_RULES } from '../../bench/workdays/rules/house-rules.ts';
import { OTHER_RULES } from '../../bench/workdays/rules/other-rules.ts';
import { readRuleSet } from '../../bench/workdays/rules/read-rule-set.ts';
import type { RuleSet } from '../../bench/workdays/rules/rule-set.ts';
import { systemClock } from '../../core/clock.ts';
import { compact } from '../../core/json.ts';
import type { Template } from '../../core/policy.ts';
import { createNanoTemplate } from '../../nano/policy/nano-template.ts';
import { createRandom } from '../../stats/random.ts';
import { withShuffledRewards } from '../../train/controls.ts';
import { connectTinker } from '../../train/tinker/connect-tinker.ts';
import { readNano } from '../engine/read-nano.ts';
import { liveQueryOf } from './live-turns.ts';
import { openChatTemplate } from './open-chat-template.ts';
import type { Promotions } from './promotions.ts';
import type { RecordedTask } from './recorded-task.ts';
import type { ShowQuery, TrainingDuties } from './thread-messages.ts';
import { type TrainNews, trainWeights } from './train-weights.ts';
import type { TaskChoice, TrainingPlan } from './training-plan.ts';
import { canAttempt, mixTasks, type TrainingTask } from './training-task.ts';
import { gatherWorkTasks, type WorkTask } from './work-task.ts';

/** One window of training with everything it needs opened, and closed again at its end. */
export async function* carryOutPlan(
  plan: TrainingPlan,
  duties: TrainingDuties,
  signal: AbortSignal,
): AsyncGenerator<TrainNews, void, undefined> {
  // Every attempt of a group listens to it.
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
    const recorded = async (): Promise<readonly RecordedTask[]> =>
      (await duties.recorded()).filter((task) => canAttempt(task, template, engine.profile.contextLength));
    yield* trainWeights(
      {
        engine,
        template,
        promotions: follow(plan, duties),
        folder: plan.folder,
        tasks: {
          train: async () => mixTasks(await tasksOf(plan.tasks.train, signal), await recorded()),
          heldOut: () => tasksOf(plan.tasks.heldOut, signal),
        },
        show: async (task) => {
          const shown = await duties.show(queryOf(task));
          return control === 'no-lessons' ? { ...shown, text: '' } : shown;
        },
        grade: ({ text, domain }, answer) => duties.grade({ task: text, domain, answer }),
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

/** Which weights serve is decided elsewhere; here one knows what was told last. */
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

const openTemplate = async (of: TrainingPlan['template']): Promise<Template> =>
  of === 'nano' ? createNanoTemplate((await readNano()).tokenizer) : openChatTemplate(of.folder);

const queryOf = (task: TrainingTask): ShowQuery => {
  if (task.kind === 'work') return { task: task.question.text };
  const { text, agent, project, domain } = task;
  return compact({ task: text, agent, project, domain });
};

const tasksOf = ({ rules, ...choice }: TaskChoice, signal: AbortSignal): Promise<readonly WorkTask[]> =>
  gatherWorkTasks({ ...choice, rules: rulesOf(rules ?? 'house') }, signal);

function rulesOf(name: string): RuleSet {
  if (name === 'house') return HOUSE_RULES;
  return name === 'other' ? OTHER_RULES : readRuleSet(readFileSync(name, 'utf8'), name);
}
