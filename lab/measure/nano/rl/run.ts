import { parseArgs } from 'node:util';
import { createRandom } from '../../../../src/base/random.ts';
import { systemClock } from '../../../../src/core/clock.ts';
import type { TrainingTask } from '../../../../src/core/task-source.ts';
import { withShuffledRewards } from '../../../../train/groups.ts';
import { createNanoTemplate } from '../../../../train/nano/policy/nano-template.ts';
import { readNano } from '../../../../train/nano/shipped-policy.ts';
import { createPolicyRollouts } from '../../../../train/policy-rollouts.ts';
import { createMemoryJournal } from '../../../../train/run-journal.ts';
import { connectTinker } from '../../../../train/tinker/connect-tinker.ts';
import type { TinkerEngine } from '../../../../train/tinker/tinker-engine.ts';
import { train } from '../../../../train/trainer.ts';
import { makeWorkTasks } from '../../../workdays/task-source.ts';
import { writeSection } from '../../markdown.ts';
import { makeLessons } from '../lessons.ts';
import { startEngineProcess, withBusyTime } from './engine-process.ts';
import { blockFor, evaluate, type LessonWording } from './evaluate.ts';
import { resultsTable, type ScoreLine, type TrainingSpeed } from './table.ts';

/*
 * The embedded policy before and after GRPO, over HTTP on the routes of Tinker, with controls.
 *
 *   npm run bench:nano [-- --write] [--seeds 3] [--steps 30] [--tasks 300]
 */
const { values } = parseArgs({
  options: {
    write: { type: 'boolean', default: false },
    seeds: { type: 'string', default: '3' },
    steps: { type: 'string', default: '30' },
    tasks: { type: 'string', default: '300' },
    rate: { type: 'string', default: '8e-3' },
    controls: { type: 'boolean', default: true },
  },
  allowNegative: true,
});
const SEEDS = Array.from({ length: Number(values.seeds) }, (_, at) => at + 1);
const STEPS = Number(values.steps);
const BATCH = { groups: 12, size: 96, atOnce: 4 };
const say = (text: string) => process.stdout.write(`${text}\n`);

const pools = { train: makeLessons('train', 40), gate: makeLessons('gate', 40) };
const gate = makeWorkTasks({ split: 'gate', seed: 7_000, count: Number(values.tasks) });
const fewer = gate.slice(0, Math.ceil((2 * gate.length) / 3));
const { name, tokenizer } = await readNano();
const template = createNanoTemplate(tokenizer);
const host = await startEngineProcess();
const { engine, busyMs } = withBusyTime(await connect());
const lines: ScoreLine[] = [];
const speeds: TrainingSpeed[] = [];
const began = performance.now();

const measure = async (
  what: string,
  weights: string | undefined,
  words: LessonWording,
  temperature = 1,
  tasks: readonly TrainingTask[] = fewer,
): Promise<ScoreLine> => {
  const sampler = await engine.openSampler(weights);
  const block = (task: TrainingTask) => blockFor(task, words, pools, 'evaluation');
  const score = await evaluate({ template, sampler, tasks, block, temperature, seed: what });
  await sampler.close();
  const line = { what, words, temperature, ...score };
  lines.push(line);
  say(
    `${what.padEnd(34)} ${words.padEnd(7)} T ${temperature}  ${score.passed}/${score.of}, task alone ${score.done}/${score.of}`,
  );
  return line;
};

try {
  await measure('before training', undefined, 'none');
  await measure('before training', undefined, 'unseen', 1, gate);
  await measure('before training', undefined, 'unseen', 0);
  for (const seed of SEEDS) {
    const weights = await trainOnce(`seed ${seed}`, seed, 'seen', false);
    await measure(`after training, seed ${seed}`, weights, 'unseen', 1, gate);
    await measure(`after training, seed ${seed}`, weights, 'slugs');
    await measure(`after training, seed ${seed}`, weights, 'none');
    if (seed === 1) await measure('after training, seed 1', weights, 'unseen', 0);
  }
  if (values.controls) {
    const shuffled = await trainOnce('shuffled rewards', 1, 'seen', true);
    await measure('trained on shuffled rewards', shuffled, 'unseen');
    const bare = await trainOnce('no skills', 1, 'none', false);
    await measure('trained without skills', bare, 'none');
  }
  const { peak } = host.memory();
  const table = resultsTable({
    lines,
    speeds,
    steps: STEPS,
    batch: BATCH.size,
    seconds: (performance.now() - began) / 1000,
    peak,
  });
  say(table);
  if (values.write) await writeSection('docs/engines.md', 'bench:nano', table);
} finally {
  await engine.close();
  await host.close();
}

function connect(): Promise<TinkerEngine> {
  return connectTinker({
    url: host.url,
    key: host.key,
    baseModel: name,
    profile: 'nano',
    losses: ['importance_sampling'],
    fetch,
    clock: systemClock,
    random: createRandom(`bench/${Date.now()}`),
  });
}

/** The weights at the end, to sample from. */
async function trainOnce(
  what: string,
  seed: number,
  words: LessonWording,
  isShuffled: boolean,
): Promise<string> {
  const tasks = makeWorkTasks({ split: 'train', seed: 3_000 + 10 * seed, count: 300 });
  const rollOut = createPolicyRollouts({
    template,
    openSampler: (path) => engine.openSampler(path),
    show: async (_, task) => ({ text: blockFor(task, words, pools, `training ${seed}`), generation: 1 }),
  });
  const since = performance.now();
  const cpu = host.cpuSeconds();
  const busy = busyMs();
  let sampler = '';
  let tokens = 0;
  let rollbacks = 0;
  for await (const news of train({
    engine,
    run: `bench-${what.replaceAll(' ', '-')}-${seed}`,
    tasks,
    rollouts: isShuffled ? withShuffledRewards(rollOut) : rollOut,
    steps: STEPS,
    batch: BATCH,
    generation: async () => 1,
    journal: createMemoryJournal(),
    signal: new AbortController().signal,
    rank: 8,
    seed,
    learningRate: Number(values.rate),
    schedule: { downTo: 0.1 },
  })) {
    if (news.type === 'step-trained') {
      tokens += news.report.start?.tokens ?? 0;
      const step = Number(news.batch.split('/').at(-1)) + 1;
      const { reward, completion } = news.report.seen ?? {};
      if (step % 5 === 0)
        say(`  ${what}: step ${step}, reward ${reward?.toFixed(3)}, complete ${completion?.toFixed(3)}`);
    }
    if (news.type === 'rolled-back') rollbacks++;
    if (news.type === 'stuck') say(`  ${what}: stuck: ${news.why}`);
    if (news.type === 'done' || news.type === 'stuck') sampler = news.checkpoint?.sampler ?? '';
  }
  const seconds = (performance.now() - since) / 1000;
  speeds.push({
    what,
    seconds,
    tokens,
    rollbacks,
    engineCpu: host.cpuSeconds() - cpu,
    ownShare: 1 - (busyMs() - busy) / 1000 / seconds,
  });
  return sampler;
}
