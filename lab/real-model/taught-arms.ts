import { setMaxListeners } from 'node:events';
import { createRandom } from '../../src/base/random.ts';
import type { ChatRequest } from '../../src/core/chat.ts';
import type { LessonPlace } from '../../src/core/lesson.ts';
import type { TaskAttempt } from '../../src/core/task-source.ts';
import type { PolicyTemplate, SampledTurn, Sampler } from '../../src/core/training.ts';
import { createInProcessClient, withLessons } from '../../src/models/in-process-client.ts';
import { shuffleBySeed } from '../../train/datum.ts';
import { createDistillation } from '../../train/distillation.ts';
import { hintOf } from '../../train/hint.ts';
import { createPolicyModel } from '../../train/policy/policy-model.ts';
import { rolloutOf, sharePrompts } from '../../train/policy-rollouts.ts';
import type { HintedRollout } from '../../train/rollout.ts';
import type { DistillationRequest, MakeDistillation } from '../../train/training-run.ts';
import { tellBroken } from '../suites/desk/desk.ts';
import { DESK_FORMS, type DeskRule, deskRule } from '../suites/desk/desk-rules.ts';
import { type DeskTask, drawDeskTask } from '../suites/desk/desk-tasks.ts';
import type { TaskVerdict } from '../suites/suite.ts';
import { pick, some } from '../suites/workdays/draw.ts';
import type { Split } from '../suites/workdays/world.ts';
import {
  deskDistractors,
  deskLesson,
  openDeskAttempt,
  RULES_EACH,
  showLessons,
  type TaughtTask,
  TRAINED_FAMILIES,
} from './desk-training.ts';

/**
 * Arms in which the rules of one house go into the weights. `into-weights`: from its lessons, which a teacher reads and the student
 * does not. `hindsight`: from what the user says about the student's own answers. `shuffled-hints`: as hindsight, but what was said
 * about an answer is shown with one of another family; weights that learn the rules from that have learned them from something else.
 */
export const TAUGHT_ARMS = ['into-weights', 'hindsight', 'shuffled-hints'] as const;
export type TaughtArm = (typeof TAUGHT_ARMS)[number];

/** A task of the house; what the user thinks of an attempt is told to the caller. */
export interface HouseTask extends Omit<TaughtTask, 'rules'> {
  readonly rules: readonly DeskRule[];
  readonly asked: DeskTask;
  openGraded(onGraded: (verdict: TaskVerdict) => void): TaskAttempt;
}

/** Tasks that are measured, with their lessons and without any. */
export interface MeasuredSet {
  readonly name: string;
  readonly tasks: readonly TaughtTask[];
}

export interface TaughtHouse {
  readonly rules: readonly DeskRule[];
  /** Never measured. */
  readonly tasks: readonly HouseTask[];
  /** `house`: the same rules, other files. `other-values`: the forms of the house with values that it does not have. */
  readonly sets: readonly MeasuredSet[];
}

/** Requests say "switched on": a file follows this rule without knowing it. */
const KNOWN_BY_CHANCE: ReadonlySet<string> = new Set(['on/off']);
const TASKS = 480;
/** The generation of the house's lessons: they never change. */
export const HOUSE_GENERATION = 1;

/** The house of a seed: two rules for each trained family. Values and files of training are not those that are measured elsewhere. */
export function openTaughtHouse(seed: number, place: LessonPlace, measured: number): TaughtHouse {
  const random = createRandom(`real-model/house/${seed}`);
  const rules = TRAINED_FAMILIES.flatMap((family) =>
    some(
      random,
      DESK_FORMS.filter((form) => form.family === family),
      RULES_EACH,
    ).map((form) => {
      const nth = random.below(100);
      const drawn = deskRule(form, 'train', nth);
      return KNOWN_BY_CHANCE.has(drawn.value) ? deskRule(form, 'train', nth + 1) : drawn;
    }),
  );
  const others = rules.map(({ form }) => deskRule(form, 'report', random.below(100)));
  const common = { seed, place };
  return {
    rules,
    tasks: makeHouseTasks({ ...common, set: 'house-training', count: TASKS, split: 'train', rules }),
    sets: [
      {
        name: 'house',
        tasks: makeHouseTasks({ ...common, set: 'house', count: measured, split: 'report', rules }),
      },
      {
        name: 'other-values',
        tasks: makeHouseTasks({
          ...common,
          set: 'other-values',
          count: measured,
          split: 'report',
          rules: others,
        }),
      },
    ],
  };
}

interface HouseTasksOptions {
  readonly set: string;
  readonly count: number;
  readonly seed: number;
  readonly split: Split;
  readonly place: LessonPlace;
  readonly rules: readonly DeskRule[];
}

function makeHouseTasks({ set, count, seed, split, place, rules }: HouseTasksOptions): readonly HouseTask[] {
  const others = deskDistractors();
  // The lessons of a house are written once.
  const written = createRandom(`real-model/house/${seed}/lessons`);
  const lessons = rules.map((rule, nth) => ({ rule, lesson: deskLesson(rule, 'train', nth, written) }));
  return Array.from({ length: count }, (_, at): HouseTask => {
    const random = createRandom(`real-model/${set}/${seed}/${at}`);
    const family = TRAINED_FAMILIES[at % TRAINED_FAMILIES.length] ?? 'python';
    const own = rules.filter(({ form }) => form.family === family);
    const task = drawDeskTask(family, split, random);
    const taught = [
      ...lessons.filter(({ rule }) => own.includes(rule)),
      ...lessons.filter(({ rule }) => !own.includes(rule)),
    ].map(({ lesson }) => lesson);
    // The same words get the same lessons.
    const shown = createRandom(`real-model/${set}/${seed}/${task.request}`);
    return {
      id: `desk/${set}/${seed}/${at}`,
      recall: { task: task.request },
      asked: task,
      rules: own,
      shown: showLessons({ taught, own: own.length, others, place, random: shown }),
      open: async () => openDeskAttempt(task, own),
      openGraded: (onGraded) => openDeskAttempt(task, own, onGraded),
    };
  });
}

/** What one step was taught by the user: answers without lessons, and what was said about them. */
interface StepCorrections {
  readonly answers: number;
  readonly done: number;
  readonly rules: number;
  readonly followed: number;
  readonly hints: number;
}

export interface TaughtArmOptions {
  readonly tasks: readonly HouseTask[];
  readonly template: PolicyTemplate;
  readonly openSampler: (path: string | undefined) => Promise<Sampler>;
  /** Tasks of a step. */
  readonly count: number;
  /** Where hints stand. The product puts them at the end of the system prompt. */
  readonly hintPlace?: LessonPlace;
  readonly onCorrected?: (step: StepCorrections) => void;
}

/** What the steps of an arm distil. Nothing else trains. */
export function createTaughtDistillation(arm: TaughtArm, options: TaughtArmOptions): MakeDistillation {
  const distil =
    arm === 'into-weights' ? createFromLessons(options) : createFromChat(options, arm === 'shuffled-hints');
  return (request) => {
    // Every answer listens to it.
    const signal = AbortSignal.any([request.signal]);
    setMaxListeners(0, signal);
    return distil({ ...request, signal });
  };
}

function createFromLessons({ tasks, template, openSampler, count }: TaughtArmOptions): MakeDistillation {
  const shown = new Map(tasks.map((task) => [task.recall.task, task.shown]));
  return createDistillation({
    template,
    openSampler,
    lessons: {
      tasks,
      show: async ({ task }) => ({ ...(shown.get(task) ?? { text: '' }), generation: HOUSE_GENERATION }),
      count,
    },
  });
}

/** The weights answer without lessons, the user says what is wrong, and what they said is the hint of that answer. */
function createFromChat(options: TaughtArmOptions, isShuffled: boolean): MakeDistillation {
  const { tasks, template, openSampler, count, hintPlace = 'system', onCorrected } = options;
  const distil = createDistillation({ template, openSampler });
  return async (request) => {
    const chosen = shuffleBySeed(tasks, request.seed).slice(0, count);
    const sampler = sharePrompts(await openSampler(request.policy.sampler));
    const answers = await Promise.all(
      chosen.map((task, at) => answerTask(task, `${request.seed}/live/${at}`, sampler, request, template)),
    ).finally(() => sampler.close());
    const given = answers.flatMap((answer) => (answer === undefined ? [] : [answer]));
    const told = given.flatMap(({ hint, ...answer }) => (hint === undefined ? [] : [{ ...answer, hint }]));
    const live = (isShuffled ? exchangeHints(told, request.seed) : told).flatMap(
      ({ rollout, asked, hint }): readonly HintedRollout[] => {
        const hinted = template.render(withLessons(asked, { text: hint, place: hintPlace }));
        return hinted.is === 'prompt' ? [{ rollout, hinted: [hinted.tokens] }] : [];
      },
    );
    const total = (of: (answer: LiveAnswer) => number): number =>
      given.reduce((sum, answer) => sum + of(answer), 0);
    onCorrected?.({
      answers: given.length,
      done: total(({ isDone }) => Number(isDone)),
      rules: total(({ task }) => task.rules.length),
      followed: total(({ followed }) => followed),
      hints: live.length,
    });
    return [...live, ...(await distil({ ...request, live }))];
  };
}

interface LiveAnswer {
  readonly task: HouseTask;
  readonly rollout: HintedRollout['rollout'];
  readonly asked: ChatRequest;
  readonly isDone: boolean;
  readonly followed: number;
  /** Undefined for an answer that breaks no rule, and for one that is not the file: nobody speaks of its rules. */
  readonly hint: string | undefined;
}

async function answerTask(
  task: HouseTask,
  id: string,
  sampler: Sampler,
  { policy, generation, signal }: DistillationRequest,
  template: PolicyTemplate,
): Promise<LiveAnswer | undefined> {
  const random = createRandom(id);
  const asked: ChatRequest[] = [];
  const turns: SampledTurn[] = [];
  const model = createPolicyModel({
    template: {
      ...template,
      render: (request) => {
        asked.push(request);
        return template.render(request);
      },
    },
    weights: async () => ({ version: policy.version, sampler, release: () => undefined }),
    temperature: 1,
    seed: () => random.below(2 ** 31),
    keep: (sampled) => void turns.push(sampled),
  });
  const verdicts: TaskVerdict[] = [];
  const attempt = task.openGraded((one) => void verdicts.push(one));
  try {
    await attempt.run({ speak: createInProcessClient(model), session: id }, signal);
  } finally {
    await attempt.close();
  }
  const [[request], [verdict]] = [asked, verdicts];
  if (request === undefined || verdict === undefined || turns.length !== 1) return undefined;
  const { passed, isDone = false, score = 0, broken } = verdict;
  const said = task.rules
    .filter((rule) => isDone && broken.includes(rule.id))
    .map((rule) => tellBroken(rule, 'train', id).said);
  return {
    task,
    rollout: rolloutOf({ turns, reward: score, isComplete: passed }, id, task.id, generation),
    asked: request,
    isDone,
    followed: isDone ? task.rules.length - broken.length : 0,
    hint: hintOf(said),
  };
}

/** Each answer with what was said about one of another family; an answer for which there is none is left out. */
function exchangeHints<Told extends { readonly task: HouseTask; readonly hint: string }>(
  told: readonly Told[],
  seed: string,
): readonly Told[] {
  const random = createRandom(`${seed}/shuffled-hints`);
  return told.flatMap((answer) => {
    const strange = told.filter(({ task }) => task.asked.family !== answer.task.asked.family);
    return strange.length === 0 ? [] : [{ ...answer, hint: pick(random, strange).hint }];
  });
}
