/**
 * npm run bench:real-reading -- --url URL --model NAME --tokenizer FOLDER --out FILE.jsonl [--arm main --seed 1 --steps 20 …]
 *
 * Whether a model that nobody here made learns to follow lessons (lab/results/real-model.md): the reading stage of the product's trainer,
 * supervised steps on verified replies and then GRPO with refilled batches. Measured before, between and after on values, forms and
 * families that were never trained: with their lessons, without any, under lessons for other files, under two lessons of which the
 * later holds, and on general questions. One arm and seed a call; lines are appended to the file. A journal continues a run.
 */
import { appendFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { LessonPlace, PlacedLessons } from '../../src/core/lesson.ts';
import type { TrainingTask } from '../../src/core/task-source.ts';
import type { Sampler } from '../../src/core/training.ts';
import { withShuffledRewards } from '../../train/groups.ts';
import { attemptTask, createPolicyRollouts, sharePrompts } from '../../train/policy-rollouts.ts';
import { drawReadingTasks, type ReadingCondition, type ReadingTask } from '../../train/reading/draw-tasks.ts';
import { gradeFile } from '../../train/reading/grade-file.ts';
import {
  createRegressionTasks,
  readRegressionSuite,
  SHIPPED_QUESTIONS,
} from '../../train/regression-suite.ts';
import { openFileJournal } from '../../train/run-files.ts';
import { createMemoryJournal } from '../../train/run-journal.ts';
import { train } from '../../train/trainer.ts';
import type { TrainInput } from '../../train/training-run.ts';
import { ENGINE_OPTIONS, openRealEngine, readEngineChoice } from './open-engine.ts';

/** `starved`: small batches, nothing refilled and nothing taught, as training was before. */
const ARMS = [
  'main',
  'starved',
  'no-teaching',
  'shuffled-lessons',
  'shuffled-rewards',
  'no-lessons',
] as const;

const { values } = parseArgs({
  options: {
    ...ENGINE_OPTIONS,
    arm: { type: 'string', default: 'main' },
    seed: { type: 'string', default: '1' },
    steps: { type: 'string', default: '20' },
    groups: { type: 'string', default: '64' },
    attempts: { type: 'string', default: '8' },
    rate: { type: 'string', default: '1e-4' },
    'teach-rate': { type: 'string', default: '2e-4' },
    /** Tasks that are taught, and attempts at each. */
    teach: { type: 'string', default: '320' },
    'teach-attempts': { type: 'string', default: '16' },
    rank: { type: 'string', default: '32' },
    /** Tasks of each set that is measured, and of those that choose the best checkpoint. */
    tasks: { type: 'string', default: '192' },
    validate: { type: 'string', default: '96' },
    every: { type: 'string', default: '5' },
    place: { type: 'string', default: 'message' },
    before: { type: 'string', default: 'yes' },
    /** Further general questions. */
    questions: { type: 'string' },
    /** Training stops after so many seconds; what was trained is measured. */
    seconds: { type: 'string', default: '100000' },
    journal: { type: 'string' },
    out: { type: 'string' },
  },
});
const arm = ARMS.find((one) => one === values.arm);
if (arm === undefined) throw new Error(`no arm is named ${values.arm}; use ${ARMS.join(', ')}`);
const { out } = values;
if (out === undefined) throw new Error('name the file for the results: --out FILE.jsonl');
const place: LessonPlace = values.place === 'system' ? 'system' : 'message';
const seed = Number(values.seed);
const began = performance.now();
const seconds = (): number => Number(((performance.now() - began) / 1000).toFixed(1));
const write = (line: object): void => {
  const text = JSON.stringify({ arm, place, seed, at: seconds(), ...line });
  appendFileSync(out, `${text}\n`);
  process.stderr.write(`${text.slice(0, 500)}\n`);
};
const choice = readEngineChoice(values);
/** In tokens; the longest file by hand has 60. */
const LONGEST_REPLY = 256;
const log = (line: string): void => void process.stderr.write(`${line}\n`);
const { engine, template } = await openRealEngine(choice, log, LONGEST_REPLY);
write({ type: 'connected', selfTest: engine.selfTest, ...values });

const never = new AbortController().signal;
const NO_LESSONS: PlacedLessons = { text: '' };
/** The same tasks for every arm and seed. */
const EVALUATION_SEED = 9_000;
/** The lessons come with the tasks: no generation of the library has a part in it. */
const GENERATION = 1;
const SETS = ['unseen-values', 'unseen-forms', 'unseen-families'] as const;
const drawn = (set: (typeof SETS)[number], condition: ReadingCondition, count: number) =>
  drawReadingTasks({ set, count, seed: EVALUATION_SEED, place, mix: { [condition]: 1 } });
const measured = SETS.flatMap((set) =>
  (['present', 'absent', 'irrelevant', 'contradicted'] as const).map((condition) => ({
    set,
    condition,
    tasks: drawn(set, condition, Math.round(Number(values.tasks) / (condition === 'present' ? 1 : 3))),
  })),
);
const questions = createRegressionTasks([
  ...(await readRegressionSuite(SHIPPED_QUESTIONS)),
  ...(values.questions === undefined ? [] : await readRegressionSuite(values.questions)),
]);

interface Outcome {
  readonly reward: number;
  readonly isComplete?: boolean;
  readonly isDone?: boolean;
  readonly answer?: string;
}

/** One attempt at each task, all at once: the server makes batches of them. */
async function attemptAll<Task extends TrainingTask>(
  sampler: Sampler,
  tasks: readonly Task[],
  temperature: number,
): Promise<readonly (Outcome | undefined)[]> {
  const weights = { version: 0, sampler, release: () => undefined };
  return Promise.all(
    tasks.map(async (task) => {
      const common = { task, template, weights, count: 1, temperature, signal: never };
      const [attempt] = await attemptTask({
        ...common,
        shown: task.shown ?? NO_LESSONS,
        seed: `evaluation/${task.id}`,
      });
      return attempt;
    }),
  );
}

async function evaluate(step: number, path: string | undefined): Promise<void> {
  const since = performance.now();
  const sampler = sharePrompts(await engine.openSampler(path));
  try {
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
    const right = (await attemptAll(sampler, questions, 0)).map((one) => one?.reward ?? 0);
    write({
      type: 'regression',
      step,
      right: right.filter((one) => one === 1).length,
      of: right.length,
      each: right,
    });
  } finally {
    await sampler.close();
  }
  write({ type: 'evaluated', step, seconds: (performance.now() - since) / 1000 });
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

/** The lessons of a task, as the arm shows them. */
function shownIn(tasks: readonly ReadingTask[]): (task: TrainingTask) => PlacedLessons {
  if (arm === 'no-lessons') return () => NO_LESSONS;
  if (arm !== 'shuffled-lessons') return ({ shown = NO_LESSONS }) => shown;
  const others = new Map(tasks.map((task, at) => [task.id, tasks[(at + 1) % tasks.length]?.shown]));
  return ({ id }) => others.get(id) ?? NO_LESSONS;
}

function trainingInput(): Omit<TrainInput<ReadingTask>, 'signal'> {
  const [groups, attempts] = arm === 'starved' ? [8, 8] : [Number(values.groups), Number(values.attempts)];
  const mix = { present: 7, absent: 1, irrelevant: 1, contradicted: 1 };
  const tasks = drawReadingTasks({ set: 'trained', count: 3_000, seed, place, mix });
  const taught = drawReadingTasks({
    set: 'trained',
    count: Number(values.teach),
    seed: seed + 1_000,
    place,
    mix,
  });
  // Tasks of trained forms: the sets that are measured must not choose the checkpoint.
  const tried = drawReadingTasks({
    set: 'trained',
    count: Number(values.validate),
    seed: seed + 2_000,
    place,
    mix: { present: 1 },
  });
  const shown = shownIn(tasks);
  const rollOut = createPolicyRollouts({
    template,
    openSampler: (path) => engine.openSampler(path),
    show: async (_, task) => ({ ...shown(task), generation: GENERATION }),
  });
  const isFed = arm !== 'starved';
  return {
    engine,
    run: `reading-${arm}-${place}-${seed}`,
    tasks,
    rollouts: arm === 'shuffled-rewards' ? withShuffledRewards(rollOut) : rollOut,
    steps: Number(values.steps),
    batch: { groups, size: groups * attempts, atOnce: 4 * groups },
    ...(isFed && {
      refill: { kindOf: ({ form, condition }) => `${form}/${condition}`, rounds: 2, least: groups / 2 },
    }),
    ...(isFed &&
      arm !== 'no-teaching' && {
        teach: {
          tasks: taught,
          attempts: Number(values['teach-attempts']),
          keep: 2,
          epochs: 2,
          size: 64,
          learningRate: Number(values['teach-rate']),
        },
      }),
    validate: { tasks: tried, every: Number(values.every) },
    generation: async () => GENERATION,
    journal: values.journal === undefined ? createMemoryJournal() : openFileJournal(values.journal),
    rank: Number(values.rank),
    seed,
    learningRate: Number(values.rate),
    settings: {
      loss: 'ppo',
      epochs: 1,
      minibatches: isFed ? 2 : 1,
      clip: { low: 0.8, high: 1.28 },
      length: { tokens: 128 },
    },
  };
}

try {
  if (values.before !== 'no') await evaluate(0, undefined);
  const away = AbortSignal.timeout(1000 * Number(values.seconds));
  let step = 0;
  let newest: string | undefined;
  for await (const event of train({ ...trainingInput(), signal: away })) {
    if (event.type === 'group-collected') continue;
    if (event.type === 'step-trained' || event.type === 'step-idle') step++;
    if (event.type === 'step-trained' || event.type === 'taught') newest = event.checkpoint.sampler;
    write({ type: 'event', step, event });
    if (event.type === 'done') newest = event.checkpoint.sampler;
    // Weights after the supervised steps, before anything was compared.
    if (event.type === 'taught') await evaluate(0, newest);
  }
  if (newest !== undefined) await evaluate(step, newest);
} finally {
  await engine.close();
}
write({ type: 'ended' });
