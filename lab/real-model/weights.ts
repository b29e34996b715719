/**
 * npm run bench:real-weights -- --url URL --model NAME --tokenizer FOLDER --out FILE.jsonl [--arm main --seed 1 --steps 20 …]
 *
 * What training changes for a model that nobody here made (lab/results/real-model.md): GRPO by Instar's trainer on tasks of the suite `desk`,
 * graded by the user's checks, with the lessons in the prompt; measured before and after on rules, forms and families that were never
 * trained, with their lessons and without them, and on general questions. One arm and seed a call; lines are appended to the file.
 */
import { appendFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { LessonPlace, PlacedLessons } from '../../src/core/lesson.ts';
import type { TrainingTask } from '../../src/core/task-source.ts';
import type { Sampler } from '../../src/core/training.ts';
import { withShuffledRewards } from '../../train/groups.ts';
import { attemptTask, createPolicyRollouts, sharePrompts } from '../../train/policy-rollouts.ts';
import {
  createRegressionTasks,
  readRegressionSuite,
  SHIPPED_QUESTIONS,
} from '../../train/regression-suite.ts';
import { createMemoryJournal } from '../../train/run-journal.ts';
import { train } from '../../train/trainer.ts';
import { type DeskSet, makeTaughtTasks, type TaughtTask } from './desk-training.ts';
import { ENGINE_OPTIONS, openRealEngine, readEngineChoice } from './open-engine.ts';

const ARMS = ['main', 'shuffled-rewards', 'no-lessons'] as const;

const { values } = parseArgs({
  options: {
    ...ENGINE_OPTIONS,
    arm: { type: 'string', default: 'main' },
    seed: { type: 'string', default: '1' },
    steps: { type: 'string', default: '20' },
    groups: { type: 'string', default: '8' },
    size: { type: 'string', default: '64' },
    rate: { type: 'string', default: '2e-4' },
    rank: { type: 'string', default: '16' },
    /** Tasks of each set that is measured. */
    tasks: { type: 'string', default: '64' },
    /** Where the lessons stand: system or message. */
    place: { type: 'string', default: 'system' },
    /** `no`: not measured before training; another seed's measurement holds, as the tasks and the weights are the same. */
    before: { type: 'string', default: 'yes' },
    /** Also measured after these steps. */
    at: { type: 'string', default: '10' },
    out: { type: 'string' },
  },
});
const arm = ARMS.find((one) => one === values.arm);
if (arm === undefined) throw new Error(`no arm is named ${values.arm}; use ${ARMS.join(', ')}`);
const { out } = values;
if (out === undefined) throw new Error('name the file for the results: --out FILE.jsonl');
const placeOf = (name: string): LessonPlace => (name === 'message' ? 'message' : 'system');
const place = placeOf(values.place);
const seed = Number(values.seed);
const steps = Number(values.steps);
const middle = new Set(values.at.split(',').map(Number));
const began = performance.now();
const seconds = (): number => Number(((performance.now() - began) / 1000).toFixed(1));
const write = (line: object): void => {
  const text = JSON.stringify({ arm, place, seed, at: seconds(), ...line });
  appendFileSync(out, `${text}\n`);
  process.stderr.write(`${text.slice(0, 400)}\n`);
};
const choice = readEngineChoice(values);
const { engine, template } = await openRealEngine(choice, (line) => process.stderr.write(`${line}\n`));
write({
  type: 'connected',
  model: choice.model,
  selfTest: engine.selfTest,
  rate: values.rate,
  rank: values.rank,
  size: values.size,
});
const never = new AbortController().signal;

const NO_LESSONS: PlacedLessons = { text: '' };
/** The same tasks for every arm and seed. */
const EVALUATION_SEED = 9_000;
/** The generation of the lessons: they never change. */
const GENERATION = 1;
const sets = (['unseen-values', 'unseen-forms', 'unseen-families'] as const).map((name: DeskSet) => ({
  name,
  tasks: makeTaughtTasks(name, Number(values.tasks), EVALUATION_SEED, place),
}));
const questions = createRegressionTasks(await readRegressionSuite(SHIPPED_QUESTIONS));

interface Outcome {
  readonly reward: number;
  readonly isComplete?: boolean;
  readonly isDone?: boolean;
  readonly tokens: number;
}

/** One attempt at each task, all at once: the server makes batches of them. */
async function attemptAll<Task extends TrainingTask>(
  sampler: Sampler,
  tasks: readonly Task[],
  shown: (task: Task) => PlacedLessons,
  temperature: number,
): Promise<readonly (Outcome | undefined)[]> {
  const weights = { version: 0, sampler, release: () => undefined };
  return Promise.all(
    tasks.map(async (task) => {
      const common = { task, template, weights, count: 1, temperature, signal: never };
      const [attempt] = await attemptTask({ ...common, shown: shown(task), seed: `evaluation/${task.id}` });
      if (attempt === undefined) return undefined;
      const { turns, ...graded } = attempt;
      return { ...graded, tokens: turns.reduce((sum, turn) => sum + turn.prompt.length, 0) };
    }),
  );
}

async function evaluate(step: number, path: string | undefined): Promise<void> {
  const since = performance.now();
  const sampler = sharePrompts(await engine.openSampler(path));
  try {
    for (const { name, tasks } of sets)
      for (const lessons of [true, false]) {
        const got = await attemptAll(sampler, tasks, (task) => (lessons ? task.shown : NO_LESSONS), 1);
        write({ type: 'measured', step, set: name, lessons, ...summary(tasks, got) });
      }
    const got = await attemptAll(sampler, questions, () => NO_LESSONS, 0);
    const right = got.map((one) => one?.reward ?? 0);
    write({
      type: 'regression',
      step,
      right: right.filter((one) => one === 1).length,
      of: got.length,
      each: right,
    });
  } finally {
    await sampler.close();
  }
  write({ type: 'evaluated', step, seconds: (performance.now() - since) / 1000 });
}

function summary(tasks: readonly TaughtTask[], got: readonly (Outcome | undefined)[]) {
  const rules = tasks.reduce((sum, task) => sum + task.rules.length, 0);
  // A file that is not what was asked for follows no rule; else one check is that it is.
  const followed = got.reduce((sum, one, at) => {
    const own = tasks[at]?.rules.length ?? 0;
    return sum + (one?.isDone === true ? Math.round(one.reward * (1 + own)) - 1 : 0);
  }, 0);
  return {
    of: tasks.length,
    complete: got.filter((one) => one?.isComplete === true).length,
    done: got.filter((one) => one?.isDone === true).length,
    rules,
    followed,
    promptTokens: Math.round(got.reduce((sum, one) => sum + (one?.tokens ?? 0), 0) / tasks.length),
    each: got.map((one) => Number(one?.isComplete === true)),
  };
}

try {
  if (values.before !== 'no') await evaluate(0, undefined);
  const openSampler = (path: string | undefined): Promise<Sampler> => engine.openSampler(path);
  const tasks = makeTaughtTasks('trained', 480, seed, place);
  const shown = new Map(tasks.map((task) => [task.id, task.shown]));
  const rollOut = createPolicyRollouts({
    template,
    openSampler,
    show: async (_, task) => ({
      ...(arm === 'no-lessons' ? NO_LESSONS : (shown.get(task.id) ?? NO_LESSONS)),
      generation: GENERATION,
    }),
  });
  const batch = { groups: Number(values.groups), size: Number(values.size), atOnce: Number(values.groups) };
  let step = 0;
  let since = performance.now();
  for await (const event of train({
    engine,
    run: `real-${arm}-${place}-${seed}`,
    tasks,
    rollouts: arm === 'shuffled-rewards' ? withShuffledRewards(rollOut) : rollOut,
    steps,
    batch,
    generation: async () => GENERATION,
    journal: createMemoryJournal(),
    signal: never,
    rank: Number(values.rank),
    seed,
    learningRate: Number(values.rate),
  })) {
    if (event.type === 'group-collected') continue;
    if (event.type === 'step-trained' || event.type === 'step-idle') {
      step++;
      write({ type: event.type, step, seconds: (performance.now() - since) / 1000, report: event.report });
      if (event.type === 'step-trained' && middle.has(step) && step < steps)
        await evaluate(step, event.checkpoint.sampler);
      since = performance.now();
    } else if (event.type === 'done') await evaluate(step, event.checkpoint.sampler);
    else write({ type: 'event', event });
  }
} finally {
  await engine.close();
}
write({ type: 'ended' });
