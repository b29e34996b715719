import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { createRandom } from '../../../src/base/random.ts';
import type { Sampler } from '../../../src/core/training.ts';
import type { Rollout } from '../../../train/rollout.ts';
import type { RunEntry, RunJournal } from '../../../train/run-journal.ts';
import type { TinkerEngine } from '../../../train/tinker/tinker-engine.ts';
import { train } from '../../../train/trainer.ts';
import type { MakeRollouts } from '../../../train/training-run.ts';
import { assertHolds, type CheckReport } from './check-report.ts';

export interface TrainerOptions {
  /** A file, so that another process can continue. */
  readonly journal: string;
  readonly steps: number;
  readonly rank: number;
  readonly rate: number;
  readonly groups: number;
  readonly size: number;
  /** After this many steps of this process the user returns, and training stops in the middle of the next. */
  readonly pauseAfter: number | undefined;
  /** The same with SIGKILL. */
  readonly killAfter: number | undefined;
  /** The least increase of the reward. */
  readonly rise: number;
}

/** After these tokens, produce this one as often as possible. The reward is its share of the reply. */
interface Habit {
  readonly id: string;
  readonly prompt: readonly number[];
  readonly wanted: number;
}

const HABITS: readonly Habit[] = [
  { id: 'three-seven', prompt: [3, 3, 3, 3], wanted: 7 },
  { id: 'four-nine', prompt: [4, 4, 4, 4], wanted: 9 },
];
const TOKENS = 8;
const GENERATION = 1;
const NEVER = new AbortController().signal;

/** Our trainer as the scheduler runs it, on a task that a random model can learn in a few steps. */
export async function driveTrainer(engine: TinkerEngine, options: TrainerOptions, report: CheckReport) {
  const { groups, size, steps, rank, rate } = options;
  const journal = openJournal(options.journal);
  const rollouts = rollOutWith(engine);
  const stop = new AbortController();
  let trained = 0;
  const progress = train<Habit>({
    engine,
    run: 'habits',
    tasks: HABITS,
    rollouts,
    steps,
    batch: { groups, size },
    generation: async () => GENERATION,
    journal,
    signal: stop.signal,
    rank,
    seed: 1,
    learningRate: rate,
    settings: { length: { tokens: TOKENS } },
  });
  let from = performance.now();
  for await (const event of progress) {
    if (event.type === 'group-collected') {
      if (trained === options.killAfter) process.kill(process.pid, 'SIGKILL');
      if (trained === options.pauseAfter) stop.abort();
      continue;
    }
    if (event.type === 'step-trained') {
      trained++;
      const { seen, start, gradNorm } = event.report;
      const seconds = ((performance.now() - from) / 1000).toFixed(1);
      from = performance.now();
      report.say(
        event.batch,
        `reward ${seen?.reward.toFixed(4)}, KL ${start?.k2.toExponential(1)}, gradient ${gradNorm?.toFixed(3)}, ${seconds} s`,
      );
    } else if (event.type === 'done' || event.type === 'paused' || event.type === 'stuck')
      report.say(event.type, 'why' in event ? event.why : trained);
    else report.say(event.type, event);
    if (event.type !== 'done') continue;
    await report.check('reward of the first and of the last weights', async () => {
      const [first, last] = await rewards(journal, rollouts);
      assertHolds(last - first >= options.rise, `${first} -> ${last}`);
      return `${first.toFixed(4)} -> ${last.toFixed(4)} over 128 attempts`;
    });
    await report.check('weights', () => fingerprint(engine, event.checkpoint.state));
  }
}

async function rewards(
  journal: RunJournal,
  rollouts: MakeRollouts<Habit>,
): Promise<readonly [number, number]> {
  const { entries } = await journal.read();
  const checkpoints = entries.flatMap((entry) =>
    'checkpoint' in entry && entry.checkpoint ? [entry.checkpoint] : [],
  );
  const mean = async (at: number): Promise<number> => {
    const policy = checkpoints.at(at);
    if (policy === undefined) return Number.NaN;
    const attempts: Rollout[] = [];
    for (const habit of HABITS)
      for (let round = 0; round < 4; round++)
        attempts.push(...(await rollouts(policy, habit, 16, { seed: `fresh/${round}`, signal: NEVER })));
    return attempts.reduce((sum, { reward }) => sum + reward, 0) / attempts.length;
  };
  return [await mean(0), await mean(-1)];
}

/** Log-probabilities of some tokens to the last digit: equal for two runs that ended at the same weights. */
async function fingerprint(engine: TinkerEngine, state: string): Promise<string> {
  const model = await engine.openModel(state);
  const tokens = HABITS.flatMap(({ prompt, wanted }) => [...prompt, wanted]);
  const datum = { tokens, targets: tokens, weights: tokens.map(() => 1) };
  const { logprobs } = await model.forward({ data: [datum], loss: 'cross_entropy' }, NEVER);
  await model.close();
  return (logprobs[0] ?? []).slice(-3).join(' ');
}

/** One sampler for each version of the weights. */
function rollOutWith(engine: TinkerEngine): MakeRollouts<Habit> {
  let open: { readonly path: string | undefined; readonly sampler: Sampler } | undefined;
  const samplerOf = async (path: string | undefined): Promise<Sampler> => {
    if (open !== undefined && open.path === path) return open.sampler;
    await open?.sampler.close();
    open = { path, sampler: await engine.openSampler(path) };
    return open.sampler;
  };
  return async (policy, { id, prompt, wanted }, count, { seed, signal }) => {
    const stamp = { policy: policy.version, generation: GENERATION };
    const sampler = await samplerOf(policy.sampler);
    const drawn = await sampler.sample(
      { prompt, count, maxTokens: TOKENS, temperature: 1, stop: [], seed: createRandom(seed).below(2 ** 31) },
      signal,
    );
    return drawn.map(({ tokens, logprobs }, at): Rollout => {
      const share = tokens.filter((token) => token === wanted).length / TOKENS;
      const segments = [
        { kind: 'prompt' as const, ids: prompt, ...stamp },
        { kind: 'reply' as const, ids: tokens, logprobs, ...stamp },
      ];
      return { id: `${seed}/${at}`, task: id, segments, reward: share, rewardSource: 'verifier' };
    });
  };
}

/** One entry per line. */
function openJournal(file: string): RunJournal {
  const entries = existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as RunEntry)
    : [];
  return {
    read: async () => ({ entries: [...entries], places: entries.length }),
    append: async (entry, place) => {
      assertHolds(place === entries.length, `entry ${place} is written already`);
      appendFileSync(file, `${JSON.stringify(entry)}\n`);
      entries.push(entry);
    },
  };
}
