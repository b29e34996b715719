import { setMaxListeners } from 'node:events';
import { createRandom } from '../../src/base/random.ts';
import type { LessonPlace } from '../../src/core/lesson.ts';
import type { TaskAttempt } from '../../src/core/task-source.ts';
import type { PolicyTemplate, Sampler } from '../../src/core/training.ts';
import { createDistillation } from '../../train/distillation.ts';
import type { MakeDistillation } from '../../train/training-run.ts';
import { DESK_FORMS, type DeskRule, deskRule } from '../suites/desk/desk-rules.ts';
import { type DeskTask, drawDeskTask } from '../suites/desk/desk-tasks.ts';
import type { TaskVerdict } from '../suites/suite.ts';
import { some } from '../suites/workdays/draw.ts';
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

/** The arm in which the rules of one house go into the weights, from its lessons, which a teacher reads and the student does not. */
export const TAUGHT_ARMS = ['into-weights'] as const;

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

export interface TaughtArmOptions {
  readonly tasks: readonly HouseTask[];
  readonly template: PolicyTemplate;
  readonly openSampler: (path: string | undefined) => Promise<Sampler>;
  /** Tasks of a step. */
  readonly count: number;
}

/** What the steps of the arm distil. Nothing else trains. */
export function createTaughtDistillation(options: TaughtArmOptions): MakeDistillation {
  const distil = createFromLessons(options);
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
