import { parseArgs } from 'node:util';
import { wilsonInterval } from '../../../src/stats/interval.ts';
import { markdownTable, writeSection } from '../markdown.ts';
import { type NanoArm, type ObedienceCount, openNanoBench } from './nano-run.ts';
import {
  directive,
  type Estimator,
  evaluative,
  expectedReward,
  learn,
  mean,
  plainRewards,
  qualityOf,
  shuffledHints,
  shuffledRewards,
  successesOnly,
  trueGradient,
  trueHindsight,
  wantedShare,
  withoutCited,
} from './simulate.ts';

/*
 * What weights learn from live turns and from lessons: the estimators in a simulation with a known gradient, then the embedded policy
 * over Tinker's routes, with controls.
 *
 *   npm run bench:live [-- --write] [--part simulation|nano] [--arm lesson|corrections|shuffled] [--seeds 1] [--steps 12] [--batch 12] [--tasks 40]
 */
const { values } = parseArgs({
  options: {
    write: { type: 'boolean', default: false },
    part: { type: 'string' },
    seeds: { type: 'string', default: '1' },
    steps: { type: 'string', default: '12' },
    batch: { type: 'string', default: '12' },
    tasks: { type: 'string', default: '40' },
    rate: { type: 'string', default: '3e-3' },
    arm: { type: 'string', multiple: true },
    batches: { type: 'string', default: '4000' },
    policies: { type: 'string', default: '20' },
  },
});
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const finish = (name: string, text: string): void => {
  say(text);
  if (values.write) writeSection('docs/live-training.md', name, text);
};

async function simulate(): Promise<string> {
  const batches = Number(values.batches);
  const policies = Array.from({ length: Number(values.policies) }, (_, at) => `policy ${at}`);
  const row = async (name: string, estimator: Estimator, of: 'reward' | 'obedience') => {
    const truth = of === 'reward' ? trueGradient : trueHindsight;
    const measure = of === 'reward' ? expectedReward : wantedShare;
    const { bias, chance, noise } = await qualityOf(estimator, truth, batches, 'quality');
    const learned: (readonly [number, number])[] = [];
    for (const policy of policies) learned.push(await learn(estimator, measure, 300, policy));
    const gains = learned.map(([before, after]) => after - before);
    const error = Math.sqrt(mean(gains.map((gain) => (gain - mean(gains)) ** 2)) / (gains.length - 1));
    return [
      name,
      `${(100 * bias).toFixed(1)} % (${(100 * chance).toFixed(1)} %)`,
      noise.toFixed(2),
      mean(learned.map(([before]) => before)).toFixed(3),
      mean(learned.map(([, after]) => after)).toFixed(3),
      `${mean(gains) < 0 ? '−' : '+'}${Math.abs(mean(gains)).toFixed(3)} ± ${(1.96 * error).toFixed(3)}`,
    ];
  };
  const head = [
    'estimator',
    'bias (by chance)',
    'noise of a batch',
    'before',
    'after 300 batches',
    'gain, 95 %',
  ];
  const rewards = [
    await row('reward against all other outcomes', evaluative, 'reward'),
    await row('the same, half of the failures fed lessons', withoutCited, 'reward'),
    await row('reward without a baseline', plainRewards, 'reward'),
    await row('as it was: successes against their mean', successesOnly, 'reward'),
    await row('control: rewards shuffled', shuffledRewards, 'reward'),
  ];
  const hints = [
    await row("the user's correction", directive, 'obedience'),
    await row('control: corrections of other tasks', shuffledHints, 'obedience'),
  ];
  return [
    `A softmax policy, 5 tasks with 5 answers, batches of 32 turns; ${batches} batches for bias and noise, ${policies.length} policies for learning.`,
    `From rewards (before and after: the expected reward):\n\n${markdownTable(head, rewards)}`,
    `From hints (the chance of the answer that the user wants):\n\n${markdownTable(head, hints)}`,
  ].join('\n\n');
}

const ARMS: readonly NanoArm[] = ['lesson', 'corrections', 'shuffled'];

const share = ({ obeyed, of }: ObedienceCount): string => {
  const { low, high } = wilsonInterval(obeyed, of);
  return `${((100 * obeyed) / of).toFixed(0)} % (${(100 * low).toFixed(0)} to ${(100 * high).toFixed(0)})`;
};

async function runNano(): Promise<string> {
  const began = performance.now();
  const bench = await openNanoBench();
  const rows: string[][] = [];
  const settings = {
    steps: Number(values.steps),
    batch: Number(values.batch),
    heldOut: Number(values.tasks),
  };
  const done = ({ done: count, of }: ObedienceCount): string => `${((100 * count) / of).toFixed(0)} %`;
  try {
    for (let seed = 0; seed < Number(values.seeds); seed++) {
      const options = { ...settings, seed, rate: Number(values.rate), say };
      const tasks = bench.tasksOf(options);
      const before = await bench.measure(undefined, tasks.heldOut, 'none');
      const told = await bench.measure(undefined, tasks.heldOut, 'quote');
      const saved = bench.tokensSaved(tasks.heldOut).toFixed(0);
      const line = (arm: string, none: ObedienceCount, quote: ObedienceCount): void => {
        rows.push([`${seed}: ${tasks.rule.title}`, arm, share(none), done(none), share(quote), saved]);
        say(rows.at(-1)?.join(' | ') ?? '');
      };
      line('before', before, told);
      for (const arm of ARMS.filter((one) => values.arm?.includes(one) ?? true)) {
        const weights = await bench.train(arm, options, tasks);
        const [none, quote] = [
          await bench.measure(weights, tasks.heldOut, 'none'),
          await bench.measure(weights, tasks.heldOut, 'quote'),
        ];
        line(arm, none, quote);
      }
    }
  } finally {
    await bench.close();
  }
  const head = [
    'seed: rule',
    'trained on',
    'obeyed, not told',
    'done',
    'obeyed, told by a lesson',
    'tokens of its block',
  ];
  const minutes = ((performance.now() - began) / 60_000).toFixed(0);
  return [
    `nano, ${values.steps} steps of ${values.batch} tasks, learning rate ${values.rate}; ${values.tasks} held-out tasks of other worlds and wordings, sampled at T = 1; ${minutes} minutes.`,
    markdownTable(head, rows),
  ].join('\n\n');
}

if (values.part !== 'nano') finish('live:simulation', await simulate());
if (values.part !== 'simulation') finish('live:nano', await runNano());
