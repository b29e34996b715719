/**
 * npm run bench:real-reading -- --url URL --model NAME --tokenizer FOLDER --out FILE.jsonl [--arm main --seed 1 --steps 20 …]
 *
 * Whether a model that nobody here made learns to follow lessons (lab/results/real-model.md): the reading stage of the product's trainer,
 * supervised steps on verified replies and then GRPO with refilled batches. Measured before, between and after on values, forms and
 * families that were never trained: with their lessons, without any, under lessons for other files, under two lessons of which the
 * later holds, and on general questions. With --house 1,2 the rules of two people then move into the weights, and what that costs is
 * measured. One arm and seed a call; lines are appended to the file. A journal continues a run.
 */
import { appendFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { LessonPlace, PlacedLessons } from '../../src/core/lesson.ts';
import type { TrainingTask } from '../../src/core/task-source.ts';
import { withShuffledRewards } from '../../train/groups.ts';
import { withKnownReplies } from '../../train/known-replies.ts';
import { createPolicyRollouts, type PolicyRolloutsOptions } from '../../train/policy-rollouts.ts';
import { drawReadingTasks, type ReadingTask } from '../../train/reading/draw-tasks.ts';
import { drawPlainTasks } from '../../train/reading/plain-tasks.ts';
import {
  createRegressionTasks,
  readRegressionSuite,
  SHIPPED_QUESTIONS,
} from '../../train/regression-suite.ts';
import { createRetoldRollouts } from '../../train/retold-rollouts.ts';
import { openFileJournal } from '../../train/run-files.ts';
import { createMemoryJournal, type RunCheckpoint } from '../../train/run-journal.ts';
import { train } from '../../train/trainer.ts';
import type { TrainInput } from '../../train/training-run.ts';
import { drawHouse, type House, rememberHouse } from './house-tasks.ts';
import { createMeasure } from './measure-policy.ts';
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
    teach: { type: 'string', default: '1920' },
    'teach-attempts': { type: 'string', default: '4' },
    'teach-keep': { type: 'string', default: '1' },
    /** Whether replies that are known to be right are taught where no attempt is right. */
    known: { type: 'string', default: 'yes' },
    /** Requests that no rule is about, taught besides: how many for each task. */
    plain: { type: 'string', default: '0.1' },
    rank: { type: 'string', default: '32' },
    /** Tasks of each set that is measured, and of those that choose the best checkpoint. */
    tasks: { type: 'string', default: '192' },
    validate: { type: 'string', default: '96' },
    every: { type: 'string', default: '5' },
    place: { type: 'string', default: 'message' },
    before: { type: 'string', default: 'yes' },
    /** Also after the supervised steps. */
    between: { type: 'string', default: 'yes' },
    /** Afterwards the rules of these houses are remembered, each from the weights that read: numbers with commas. */
    house: { type: 'string', default: '' },
    memories: { type: 'string', default: '900' },
    'memory-rate': { type: 'string', default: '3e-4' },
    'memory-epochs': { type: 'string', default: '2' },
    /** Weights that read already, at the server: no reading stage. */
    state: { type: 'string' },
    sampler: { type: 'string' },
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
const openSampler = (path: string | undefined) => engine.openSampler(path);
const log = (line: string): void => void process.stderr.write(`${line}\n`);
const { engine, template } = await openRealEngine(choice, log, LONGEST_REPLY);
write({ type: 'connected', selfTest: engine.selfTest, ...values });

const NO_LESSONS: PlacedLessons = { text: '' };
/** The lessons come with the tasks: no generation of the library has a part in it. */
const GENERATION = 1;
const measure = createMeasure({
  ...{ engine, template, place, write },
  tasks: Number(values.tasks),
  questions: createRegressionTasks([
    ...(await readRegressionSuite(SHIPPED_QUESTIONS)),
    ...(values.questions === undefined ? [] : await readRegressionSuite(values.questions)),
  ]),
});

/** The lessons of a task, as the arm shows them. */
function shownIn(tasks: readonly ReadingTask[]): (task: TrainingTask) => PlacedLessons {
  if (arm === 'no-lessons') return () => NO_LESSONS;
  if (arm !== 'shuffled-lessons') return ({ shown = NO_LESSONS }) => shown;
  const others = new Map(tasks.map((task, at) => [task.id, tasks[(at + 1) % tasks.length]?.shown]));
  return ({ id }) => others.get(id) ?? NO_LESSONS;
}

/** A reading task, or a request that no rule is about. */
type TaughtTask = TrainingTask & Partial<Pick<ReadingTask, 'condition'>>;

function trainingInput(): Omit<TrainInput<TaughtTask>, 'signal'> {
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
  const shown = shownIn([...tasks, ...taught]);
  const show: PolicyRolloutsOptions['show'] = async (_, task) => ({ ...shown(task), generation: GENERATION });
  const rollOut = createPolicyRollouts({ template, openSampler, show });
  const isFed = arm !== 'starved';
  return {
    engine,
    run: `reading-${arm}-${place}-${seed}`,
    tasks,
    rollouts: arm === 'shuffled-rewards' ? withShuffledRewards(rollOut) : rollOut,
    steps: Number(values.steps),
    batch: { groups, size: groups * attempts, atOnce: 4 * groups },
    ...(isFed && {
      refill: {
        kindOf: ({ form = '', condition = '' }) => `${form}/${condition}`,
        rounds: 2,
        least: groups / 2,
      },
    }),
    ...(isFed &&
      arm !== 'no-teaching' && {
        teach: {
          tasks: [...taught, ...drawPlainTasks(Math.round(taught.length * Number(values.plain)), seed)],
          ...(values.known !== 'no' && { rollouts: withKnownReplies(rollOut, { template, show }) }),
          attempts: Number(values['teach-attempts']),
          keep: Number(values['teach-keep']),
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

/** Trains and measures; the newest weights at its end. */
async function runReading(): Promise<RunCheckpoint | undefined> {
  if (values.before !== 'no') await measure.reading(0, undefined);
  const away = AbortSignal.timeout(1000 * Number(values.seconds));
  let step = 0;
  let newest: RunCheckpoint | undefined;
  for await (const event of train({ ...trainingInput(), signal: away })) {
    if (event.type === 'group-collected') continue;
    if (event.type === 'step-trained' || event.type === 'step-idle') step++;
    if (event.type === 'step-trained' || event.type === 'taught') newest = event.checkpoint;
    write({ type: 'event', step, event });
    if (event.type === 'done') newest = event.checkpoint;
    // Weights after the supervised steps, before anything was compared.
    if (event.type === 'taught' && values.between === 'yes') await measure.reading(0, newest?.sampler);
  }
  if (newest !== undefined) await measure.reading(step, newest.sampler);
  return newest;
}

/** A house's rules move into weights that can read; what they lose by it is measured. */
async function runRemembering(from: RunCheckpoint, house: House): Promise<void> {
  write({ type: 'house', rules: house.map(({ form, value }) => [form.id, value]) });
  await measure.house('before', from.sampler, house);
  const remembering = rememberHouse({ house, place, seed, count: Number(values.memories) });
  const rollouts = createRetoldRollouts({
    ...{ template, openSampler },
    show: async (_, { shown = NO_LESSONS }) => ({ ...shown, generation: GENERATION }),
  });
  let newest: RunCheckpoint | undefined;
  for await (const event of train<TrainingTask>({
    engine,
    run: `remembering-${values.house}-${place}-${seed}`,
    ...{ from, rollouts, tasks: remembering, steps: 0, rank: Number(values.rank), seed },
    batch: { groups: 1, size: 8, atOnce: 256 },
    teach: {
      ...{ tasks: remembering, rollouts, attempts: 4, keep: 1, size: 32 },
      epochs: Number(values['memory-epochs']),
      learningRate: Number(values['memory-rate']),
    },
    generation: async () => GENERATION,
    journal: createMemoryJournal(),
    signal: new AbortController().signal,
  })) {
    if (event.type === 'taught' || event.type === 'done') newest = event.checkpoint;
    write({ type: 'event', step: 'remembering', event });
  }
  if (newest === undefined) return;
  await measure.house('after', newest.sampler, house);
  await measure.reading('remembered', newest.sampler);
}

try {
  const own: RunCheckpoint = { version: 1, state: values.state ?? '', sampler: values.sampler ?? '' };
  const newest = values.state === undefined ? await runReading() : own;
  for (const one of values.house.split(',').filter((text) => text !== ''))
    if (newest !== undefined) await runRemembering(newest, drawHouse(Number(one)));
} finally {
  await engine.close();
}
write({ type: 'ended' });
