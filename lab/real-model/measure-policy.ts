import type { LessonPlace, PlacedLessons } from '../../src/core/lesson.ts';
import type { TrainingTask } from '../../src/core/task-source.ts';
import type { PolicyTemplate, Sampler, TrainingEngine } from '../../src/core/training.ts';
import { attemptTask, sharePrompts } from '../../train/policy-rollouts.ts';
import { drawReadingTasks, type ReadingTask } from '../../train/reading/draw-tasks.ts';
import { gradeFile } from '../../train/reading/grade-file.ts';
import { drawHouseTasks, type House } from './house-tasks.ts';

interface MeasureOptions {
  readonly engine: Pick<TrainingEngine, 'openSampler'>;
  readonly template: PolicyTemplate;
  readonly place: LessonPlace;
  readonly write: (line: object) => void;
  /** Of each set with its lessons; a third of that in the other conditions. */
  readonly tasks: number;
  readonly questions: readonly TrainingTask[];
}

/** What a policy can do; each part is written as lines. `path`: weights at the engine; undefined: those it began with. */
interface Measure {
  /** Files with and without lessons, on the three sets that are not trained on, and the general questions. */
  reading(step: number | string, path: string | undefined): Promise<void>;
  /** The rules of a house: told, untold, and where the prompt says another value. */
  house(when: string, path: string | undefined, house: House): Promise<void>;
}

const never = new AbortController().signal;
const NO_LESSONS: PlacedLessons = { text: '' };
/** The same tasks for every arm and seed. */
const EVALUATION_SEED = 9_000;
const SETS = ['unseen-values', 'unseen-forms', 'unseen-families'] as const;
const CONDITIONS = ['present', 'absent', 'irrelevant', 'contradicted'] as const;
const HOUSE_TASKS = 240;

export function createMeasure({
  engine,
  template,
  place,
  write,
  tasks: count,
  questions,
}: MeasureOptions): Measure {
  const measured = SETS.flatMap((set) =>
    CONDITIONS.map((condition) => ({
      set,
      condition,
      tasks: drawReadingTasks({
        ...{ set, place, seed: EVALUATION_SEED, mix: { [condition]: 1 } },
        count: Math.round(count / (condition === 'present' ? 1 : 3)),
      }),
    })),
  );
  const withSampler = async (
    path: string | undefined,
    use: (sampler: Sampler) => Promise<void>,
  ): Promise<void> => {
    const since = performance.now();
    const sampler = sharePrompts(await engine.openSampler(path));
    try {
      await use(sampler);
    } finally {
      await sampler.close();
    }
    write({ type: 'evaluated', seconds: (performance.now() - since) / 1000 });
  };
  /** One attempt at each task, all at once: the server makes batches of them. */
  const attemptAll = async (
    sampler: Sampler,
    tasks: readonly TrainingTask[],
    temperature: number,
  ): Promise<readonly (Outcome | undefined)[]> => {
    const weights = { version: 0, sampler, release: () => undefined };
    return Promise.all(
      tasks.map(async (task) => {
        const common = { task, template, weights, count: 1, temperature, signal: never };
        const shown = task.shown ?? NO_LESSONS;
        const [attempt] = await attemptTask({ ...common, shown, seed: `evaluation/${task.id}` });
        return attempt;
      }),
    );
  };
  return {
    reading: (step, path) =>
      withSampler(path, async (sampler) => {
        const all = await attemptAll(
          sampler,
          measured.flatMap(({ tasks }) => tasks),
          1,
        );
        let from = 0;
        for (const { set, condition, tasks } of measured) {
          const got = all.slice(from, from + tasks.length);
          from += tasks.length;
          write({ type: 'measured', step, set, condition, ...summary(tasks, got) });
        }
        const each = (await attemptAll(sampler, questions, 0)).map((one) => one?.reward ?? 0);
        const right = each.filter((one) => one === 1).length;
        write({ type: 'regression', step, right, of: each.length, each });
      }),
    house: (when, path, house) =>
      withSampler(path, async (sampler) => {
        for (const condition of ['told', 'silent', 'changed'] as const) {
          const tasks = drawHouseTasks(condition, {
            ...{ house, place, count: HOUSE_TASKS, seed: EVALUATION_SEED, split: 'report' },
          });
          const got = await attemptAll(sampler, tasks, 1);
          write({ type: 'house-measured', when, condition, ...summary(tasks, got) });
        }
      }),
  };
}

interface Outcome {
  readonly reward: number;
  readonly isComplete?: boolean;
  readonly isDone?: boolean;
  readonly answer?: string;
}

function summary(tasks: readonly ReadingTask[], got: readonly (Outcome | undefined)[]) {
  const graded = tasks.map((task, at) => {
    const answer = got[at]?.answer;
    if (answer === undefined) return { met: 0, isDone: false, isLeaking: false, untold: 0 };
    // Rules that nobody told: who follows them does so by chance, or by memory.
    const untold = gradeFile(answer, { ...task, rules: task.untold, stray: [] }).met;
    return { ...gradeFile(answer, task), untold };
  });
  const count = (of: (one: (typeof graded)[number]) => boolean): number => graded.filter(of).length;
  return {
    of: tasks.length,
    forms: new Set(tasks.map(({ form }) => form)).size,
    complete: got.filter((one) => one?.isComplete === true).length,
    done: count(({ isDone }) => isDone),
    leaking: count(({ isLeaking }) => isLeaking),
    untold: count(({ untold }) => untold > 0),
    rules: tasks.reduce((sum, { rules }) => sum + rules.length, 0),
    met: graded.reduce((sum, { met }) => sum + met, 0),
    // Of the rule that is tested, by form: for intervals over forms.
    each: tasks.map(({ form }, at) => [form, Number(got[at]?.isComplete === true)]),
  };
}
