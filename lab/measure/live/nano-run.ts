import { createRandom } from '../../../src/base/random.ts';
import type { ChatRequest } from '../../../src/core/chat.ts';
import { systemClock } from '../../../src/core/clock.ts';
import type { SampledSequence, Sampler } from '../../../src/core/training.ts';
import { hintOf, withHint } from '../../../train/hint.ts';
import { createNanoTemplate } from '../../../train/nano/policy/nano-template.ts';
import { readNano } from '../../../train/nano/shipped-policy.ts';
import { DEFAULT_GUARD } from '../../../train/reward-guard.ts';
import type { HintedRollout } from '../../../train/rollout.ts';
import { createMemoryJournal, openRunLog } from '../../../train/run-journal.ts';
import { DEFAULT_STEP, trainStep } from '../../../train/step.ts';
import { connectTinker } from '../../../train/tinker/connect-tinker.ts';
import type { TinkerEngine } from '../../../train/tinker/tinker-engine.ts';
import { drawRuleOf, formsOf } from '../../workdays/rules/draw-rules.ts';
import type { HouseRule } from '../../workdays/rules/rule-set.ts';
import type { Split } from '../../workdays/world.ts';
import { startEngineProcess } from '../nano/rl/engine-process.ts';
import { judgeTrial } from '../obedience/judge-trial.ts';
import { aloneTrials, type Telling, type Trial } from '../obedience/make-trials.ts';

/**
 * What the teacher reads besides the student's prompt. `corrections`: what the user says after an answer that breaks the rule.
 * `shuffled`: the same words about another rule. `lesson`: the block with a lesson that quotes the user.
 */
export type NanoArm = 'corrections' | 'shuffled' | 'lesson';

export interface NanoSettings {
  readonly seed: number;
  readonly steps: number;
  readonly batch: number;
  readonly heldOut: number;
  readonly rate: number;
  readonly say: (line: string) => void;
}

export interface ObedienceCount {
  readonly obeyed: number;
  readonly done: number;
  readonly of: number;
}

interface TaskTellings {
  readonly rule: HouseRule;
  readonly of: ReadonlyMap<Telling, Trial>;
}

/** Tasks of a split in which the rule applies, with the ways in which it can be told. */
function tasksFor(rule: HouseRule, name: string, count: number, split: Split): readonly TaskTellings[] {
  const tasks: TaskTellings[] = [];
  for (let part = 0; tasks.length < count && part < 20; part++) {
    const trials = aloneTrials('seen', rule, `${name}/${part}`, 20, split);
    const byTask = new Map<string, Map<Telling, Trial>>();
    for (const trial of trials) {
      const known = byTask.get(trial.question.text) ?? new Map<Telling, Trial>();
      byTask.set(trial.question.text, known.set(trial.condition, trial));
    }
    tasks.push(...[...byTask.values()].map((of) => ({ rule, of })));
  }
  return tasks.slice(0, count);
}

export async function openNanoBench() {
  const { name, tokenizer } = await readNano();
  const template = createNanoTemplate(tokenizer);
  const host = await startEngineProcess();
  const engine: TinkerEngine = await connectTinker({
    url: host.url,
    key: host.key,
    baseModel: name,
    profile: 'nano',
    losses: ['importance_sampling', 'cross_entropy'],
    fetch,
    clock: systemClock,
    random: createRandom(`bench/${Date.now()}`),
  });
  const { signal } = new AbortController();
  const render = (request: ChatRequest): readonly number[] => {
    const rendered = template.render(request);
    if (rendered.is !== 'prompt') throw new Error('a task that the policy does not take for one');
    return rendered.tokens;
  };
  const sampleOne = async (
    sampler: Sampler,
    prompt: readonly number[],
    seed: number,
    temperature: number,
  ) => {
    const ask = {
      prompt,
      count: 1,
      maxTokens: template.longestReply,
      temperature,
      stop: template.stop,
      seed,
    };
    const [one] = await sampler.sample(ask, signal);
    if (one === undefined) throw new Error('the engine returned no sample');
    return one;
  };
  const trialOf = ({ of }: TaskTellings, telling: Telling): Trial => {
    const trial = of.get(telling);
    if (trial === undefined) throw new Error(`a task is not told by ${telling}`);
    return trial;
  };

  /** Obedience on held-out tasks, sampled at T = 1, told in this way. */
  const measure = async (
    weights: string | undefined,
    tasks: readonly TaskTellings[],
    telling: Telling,
  ): Promise<ObedienceCount> => {
    const sampler = await engine.openSampler(weights);
    const count = { obeyed: 0, done: 0, of: 0 };
    for (const [at, task] of tasks.entries()) {
      const trial = trialOf(task, telling);
      const { tokens } = await sampleOne(sampler, render(trial.request), at, 1);
      const outcome = await judgeTrial(trial, tokens, tokenizer);
      count.of++;
      if (outcome.isDone) count.done++;
      if (outcome.isDone && outcome.obeyed.length > 0) count.obeyed++;
    }
    await sampler.close();
    return count;
  };

  /** One reply of the student to a task, and one of the teacher, with what both were asked. */
  const attempt = async (task: TaskTellings, told: TaskTellings, arm: NanoArm, by: Attempters) => {
    const asked = trialOf(task, 'none');
    const prompt = render(asked.request);
    const own = await sampleOne(by.student, prompt, by.seed(), 1);
    const isObeyed = (await judgeTrial(asked, own.tokens, tokenizer)).obeyed.length > 0;
    // People correct what is wrong; the block of a lesson is there in any case.
    if (arm !== 'lesson' && isObeyed) return { isObeyed, rollouts: [] };
    const hint = hintOf([notesIn(trialOf(told, 'notes').request)]) ?? '';
    const hinted = render(arm === 'lesson' ? trialOf(task, 'quote').request : withHint(asked.request, hint));
    const again = await sampleOne(by.teacher, hinted, by.seed(), 1);
    const made = (kind: string, { tokens, logprobs }: SampledSequence, isTaught: boolean): HintedRollout => ({
      isTaught,
      rollout: {
        id: `${by.name}/${kind}`,
        task: by.name,
        segments: [
          { kind: 'prompt', ids: prompt, ...by.stamp },
          { kind: 'reply', ids: tokens, logprobs, ...by.stamp },
        ],
        reward: 0,
        rewardSource: 'person',
      },
      hinted: [hinted],
    });
    // As in the product: the student's own answer, and the teacher's.
    return { isObeyed, rollouts: [made('again', again, true), made('own', own, false)] };
  };

  const train = async (
    arm: NanoArm,
    settings: NanoSettings,
    held: HeldTasks,
  ): Promise<string | undefined> => {
    const { seed, steps, batch, say } = settings;
    const model = await engine.createModel({ rank: 8, seed });
    const log = await openRunLog(createMemoryJournal(), DEFAULT_GUARD);
    const first = `live-${arm}-${seed}`;
    const begun = await model.saveState(first);
    const sampler = await model.saveForSampler(first);
    await log.append({ type: 'run-begun', checkpoint: { version: 0, state: begun, sampler } });
    const still = await engine.openModel(begun);
    const teacher = await engine.openSampler(sampler);
    const random = createRandom(`live/${arm}/${seed}`);
    for (let step = 0; step < steps; step++) {
      const { version, sampler: path } = log.run.lineage.at(-1) ?? { version: 0, sampler };
      const student = await engine.openSampler(path);
      const attempts = await Promise.all(
        Array.from({ length: batch }, async (_, at) => {
          const task = held.train[(step * batch + at) % held.train.length];
          const told = arm === 'shuffled' ? held.others[random.below(held.others.length)] : task;
          if (task === undefined || told === undefined) throw new Error('there are no tasks');
          const stamp = { policy: version, generation: 0 };
          const by = { student, teacher, seed: () => random.below(2 ** 31), stamp };
          return attempt(task, told, arm, { ...by, name: `${first}/${step}/${at}` });
        }),
      );
      await student.close();
      const distilled = attempts.flatMap(({ rollouts }) => rollouts);
      const end = await trainStep({
        batch: { id: `${first}/${step}`, groups: [], distilled },
        model,
        teacher: still,
        profile: engine.profile,
        log,
        generation: 0,
        learningRate: settings.rate * (1 - (0.9 * step) / steps),
        settings: { ...DEFAULT_STEP, size: 1 },
        signal,
      });
      const obeyed = attempts.filter(({ isObeyed }) => isObeyed).length;
      const why = end.end === 'refused' ? `: ${end.refusal.why}` : '';
      say(`  ${first}, step ${step + 1}: ${end.end}${why}; ${obeyed} of ${batch} obeyed before it`);
    }
    await Promise.all([teacher.close(), model.close(), still.close()]);
    return log.run.lineage.at(-1)?.sampler;
  };

  const tasksOf = ({ seed, steps, batch, heldOut }: NanoSettings): HeldTasks => {
    const rule = ruleOf(seed);
    return {
      rule,
      train: tasksFor(rule, `live/${seed}/train`, steps * batch, 'train'),
      others: [1, 2].flatMap((off) => tasksFor(ruleOf(seed + off), `live/${seed}/${off}`, batch, 'train')),
      heldOut: tasksFor(rule, `live/${seed}/report`, heldOut, 'report'),
    };
  };
  /** How many tokens shorter a prompt is without the block of one lesson. */
  const tokensSaved = (tasks: readonly TaskTellings[]): number =>
    tasks.reduce(
      (sum, task) =>
        sum + render(trialOf(task, 'quote').request).length - render(trialOf(task, 'none').request).length,
      0,
    ) / Math.max(1, tasks.length);
  return {
    train,
    tasksOf,
    measure,
    tokensSaved,
    close: async () => {
      await engine.close();
      await host.close();
    },
  };
}

interface Attempters {
  readonly student: Sampler;
  readonly teacher: Sampler;
  readonly seed: () => number;
  readonly stamp: { readonly policy: number; readonly generation: number };
  readonly name: string;
}

interface HeldTasks {
  readonly rule: HouseRule;
  readonly train: readonly TaskTellings[];
  /** Of two other rules. */
  readonly others: readonly TaskTellings[];
  readonly heldOut: readonly TaskTellings[];
}

/** Forms that the policy obeys in about half of the tasks when it is told, and never when it is not. */
const FORMS = ['title-suffix', 'person-prefix', 'amount-unit-first'];

function ruleOf(seed: number): HouseRule {
  const name = FORMS[seed % FORMS.length];
  const form = formsOf('seen').find((one) => one.name === name);
  if (form === undefined) throw new Error(`there is no form ${name}`);
  return { ...drawRuleOf(form, 'seen', `live/${seed}`), since: 0 };
}

/** The line of notes that a request tells the rule by. */
const notesIn = ({ system }: ChatRequest): string =>
  /^- (.+)$/m.exec(system.map(({ text }) => text).join('\n'))?.[1] ?? '';
