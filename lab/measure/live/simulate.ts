import { createRandom, type Random } from '../../../src/base/random.ts';
import type { StoredFact } from '../../../src/core/fact.ts';
import type { StepInput, TrainingModel } from '../../../src/core/training.ts';
import { hindsightOf } from '../../../train/hindsight.ts';
import { createLiveOutcomes } from '../../../train/live-outcomes.ts';
import type { HintedRollout } from '../../../train/rollout.ts';
import { PROFILES } from '../../../train/tinker/profiles.ts';
import { shuffled } from '../../workdays/draw.ts';

/*
 * A softmax policy small enough that the true gradient is known: K tasks, V answers to each, a reward for each answer with noise.
 * The estimators are the product's own functions, fed with facts and rollouts.
 */
const K = 5;
const V = 5;
/** Turns of a batch. */
const TURNS = 32;
/** What a hint adds to the logit of the answer that it asks for. */
const HINT = 4;
const NOISE = 0.1;

type Table = readonly number[][];

interface Bandit {
  /** θ: the logits of the answers to each task. */
  readonly logits: number[][];
  readonly rewards: Table;
  /** The answer that the user wants. */
  readonly wanted: readonly number[];
}

/** Hard and easy tasks: the same answer is worth 0.6 where others get 0.2, and where others get 1. */
function makeBandit(random: Random): Bandit {
  const tasks = Array.from({ length: K }, () => random.next());
  const rewards = tasks.map((ease) =>
    Array.from({ length: V }, () => 0.1 + 0.5 * random.next() + 0.3 * ease),
  );
  return {
    logits: rewards.map((row) => row.map(() => random.next() - 0.5)),
    rewards,
    // Each answer is wanted for one task: a hint of another task is wrong.
    wanted: shuffled(
      random,
      rewards.map((_, answer) => answer),
    ),
  };
}

const chances = (logits: readonly number[]): readonly number[] => {
  const weights = logits.map((logit) => Math.exp(logit - Math.max(...logits)));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
};

export const expectedReward = ({ logits, rewards }: Bandit): number =>
  mean(logits.map((row, task) => dot(chances(row), rewards[task] ?? [])));

export const wantedShare = ({ logits, wanted }: Bandit): number =>
  mean(logits.map((row, task) => chances(row)[wanted[task] ?? 0] ?? 0));

/** The true gradient of the expected reward. */
export const trueGradient = ({ logits, rewards }: Bandit): Table =>
  logits.map((row, task) => {
    const p = chances(row);
    const value = dot(p, rewards[task] ?? []);
    return p.map((chance, answer) => (chance * ((rewards[task]?.[answer] ?? 0) - value)) / K);
  });

/** The true gradient of −KL(student ‖ teacher), where the teacher has read the hint and is held still. */
export const trueHindsight = ({ logits, wanted }: Bandit): Table =>
  logits.map((row, task) => {
    const p = chances(row);
    const gap = p.map((chance, answer) => logTeacher(row, wanted[task] ?? 0, answer) - Math.log(chance));
    const value = dot(p, gap);
    return p.map((chance, answer) => (chance * ((gap[answer] ?? 0) - value)) / K);
  });

const logTeacher = (row: readonly number[], hint: number, answer: number): number =>
  Math.log(chances(row.map((logit, at) => logit + (at === hint ? HINT : 0)))[answer] ?? 0);

interface Draw {
  readonly task: number;
  readonly answer: number;
  readonly reward: number;
}

function drawTurns({ logits, rewards }: Bandit, random: Random): readonly Draw[] {
  return Array.from({ length: TURNS }, () => {
    const task = random.below(K);
    let left = random.next();
    const found = chances(logits[task] ?? []).findIndex((chance) => {
      left -= chance;
      return left < 0;
    });
    const answer = found < 0 ? V - 1 : found;
    const noisy = (rewards[task]?.[answer] ?? 0) + NOISE * (2 * random.next() - 1);
    return { task, answer, reward: Math.min(1, Math.max(0, noisy)) };
  });
}

/** The gradient of a batch: the mean of advantage times the gradient of the log-probability. */
function gradientOf({ logits }: Bandit, turns: readonly Draw[], advantages: readonly number[]): Table {
  const sum = logits.map((row) => row.map(() => 0));
  for (const [at, { task, answer }] of turns.entries())
    for (const [other, chance] of chances(logits[task] ?? []).entries()) {
      const row = sum[task] ?? [];
      row[other] =
        (row[other] ?? 0) + ((advantages[at] ?? 0) * ((other === answer ? 1 : 0) - chance)) / TURNS;
    }
  return sum;
}

export type Estimator = (bandit: Bandit, turns: readonly Draw[], random: Random) => Promise<Table>;

const appraised = ({ reward }: Draw, at: number): StoredFact => ({
  seq: at + 1,
  at: 0,
  fact: {
    type: 'turn-appraised',
    turn: `${at}`,
    session: `s${at}`,
    scope: { agent: 'agent' },
    generation: 0,
    verdict: reward < 0.5 ? 'failure' : 'success',
    reward,
    source: 'person',
    signals: [{ name: 'feedback', source: 'person', score: reward, weight: 1, reason: '' }],
    digests: [],
  },
});

const outcomeAdvantages = (turns: readonly Draw[]): readonly number[] => {
  const outcomes = createLiveOutcomes();
  for (const [at, turn] of turns.entries()) outcomes.add(appraised(turn, at));
  return turns.map((_, at) => outcomes.advantageOf(`${at}`) ?? 0);
};

/** Rewards against the mean of all other outcomes. */
export const evaluative: Estimator = async (bandit, turns) =>
  gradientOf(bandit, turns, outcomeAdvantages(turns));

/** The same when every second failure fed a lesson: it counts in the means and does not train. */
export const withoutCited: Estimator = async (bandit, turns, random) =>
  gradientOf(
    bandit,
    turns,
    outcomeAdvantages(turns).map((advantage, at) =>
      (turns[at]?.reward ?? 0) < 0.5 && random.next() < 0.5 ? 0 : advantage,
    ),
  );

/** As it was: failures left out, and the decaying mean of earlier successes as the baseline. */
export const successesOnly: Estimator = async (bandit, turns) => {
  let known: { readonly mean: number; readonly weight: number } | undefined;
  const advantages = turns.map(({ reward }) => {
    if (reward < 0.5) return 0;
    const advantage = known === undefined ? 0 : reward - known.mean;
    const kept = 0.95 * (known?.weight ?? 0);
    known = { mean: (kept * (known?.mean ?? 0) + reward) / (kept + 1), weight: kept + 1 };
    return advantage;
  });
  return gradientOf(bandit, turns, advantages);
};

/** No baseline at all: unbiased, and as noisy as it gets. */
export const plainRewards: Estimator = async (bandit, turns) =>
  gradientOf(
    bandit,
    turns,
    turns.map(({ reward }) => reward),
  );

export const shuffledRewards: Estimator = async (bandit, turns, random) => {
  const dealt = shuffled(
    random,
    turns.map(({ reward }) => reward),
  );
  return evaluative(
    bandit,
    turns.map((turn, at) => ({ ...turn, reward: dealt[at] ?? 0 })),
    random,
  );
};

/** Token ids: a task, then a hint that asks for an answer, then the answer. */
const promptOf = (task: number, hint?: number): readonly number[] =>
  hint === undefined ? [V + task] : [V + task, V + K + hint];

/** The policy as an engine's model reads it. */
const modelOf = ({ logits }: Bandit): Pick<TrainingModel, 'forward'> => ({
  forward: async ({ data }: StepInput) => ({
    metrics: {},
    logprobs: data.map(({ tokens, targets }) => {
      const [asked = V, hint] = tokens;
      const row = logits[asked - V] ?? [];
      const target = targets.at(-1) ?? 0;
      const logprob =
        hint === undefined ? Math.log(chances(row)[target] ?? 0) : logTeacher(row, hint - V - K, target);
      return targets.map((_, at) => (at === targets.length - 1 ? logprob : 0));
    }),
  }),
});

const PROFILE = { ...PROFILES.nano, baseModel: 'bandit', wire: 'json' } as const;

const hindsightWith =
  (hintsOf: (bandit: Bandit, turns: readonly Draw[], random: Random) => readonly number[]): Estimator =>
  async (bandit, turns, random) => {
    const hints = hintsOf(bandit, turns, random);
    const stamp = { policy: 0, generation: 0 };
    const rollouts = turns.map(
      ({ task, answer }, at): HintedRollout => ({
        rollout: {
          ...{ id: `${at}`, task: `${task}`, reward: 0, rewardSource: 'person' },
          segments: [
            { kind: 'prompt', ids: promptOf(task), ...stamp },
            { kind: 'reply', ids: [answer], logprobs: [0], ...stamp },
          ],
        },
        hinted: [promptOf(task, hints[at] ?? 0)],
      }),
    );
    const { signal } = new AbortController();
    const scored = await hindsightOf(rollouts, { model: modelOf(bandit) }, PROFILE, { clip: 50 }, signal);
    return gradientOf(
      bandit,
      turns,
      scored.map(({ ofTokens }) => ofTokens?.[0]?.[0] ?? 0),
    );
  };

/** The user's correction of each answer. */
export const directive = hindsightWith(({ wanted }, turns) => turns.map(({ task }) => wanted[task] ?? 0));

/** Corrections of other turns: each turn gets that of a task drawn at random. */
export const shuffledHints = hindsightWith(({ wanted }, turns, random) =>
  turns.map(() => wanted[random.below(K)] ?? 0),
);

export interface EstimatorQuality {
  /** The length of (mean gradient − true gradient) over that of the true one, and what chance alone would give. */
  readonly bias: number;
  readonly chance: number;
  /** The standard deviation of one batch's gradient over the length of the true one. */
  readonly noise: number;
}

export async function qualityOf(
  estimator: Estimator,
  truth: (bandit: Bandit) => Table,
  batches: number,
  seed: string,
): Promise<EstimatorQuality> {
  const bandit = makeBandit(createRandom(`${seed}/bandit`));
  const random = createRandom(`${seed}/draws`);
  const exact = truth(bandit).flat();
  const sum = exact.map(() => 0);
  const squares = exact.map(() => 0);
  for (let batch = 0; batch < batches; batch++) {
    const gradient = (await estimator(bandit, drawTurns(bandit, random), random)).flat();
    for (const [at, value] of gradient.entries()) {
      sum[at] = (sum[at] ?? 0) + value;
      squares[at] = (squares[at] ?? 0) + value * value;
    }
  }
  const means = sum.map((value) => value / batches);
  const variance = squares.reduce((all, square, at) => all + square / batches - (means[at] ?? 0) ** 2, 0);
  const length = Math.hypot(...exact);
  return {
    bias: Math.hypot(...means.map((value, at) => value - (exact[at] ?? 0))) / length,
    chance: Math.sqrt(variance / batches) / length,
    noise: Math.sqrt(variance) / length,
  };
}

/** Trains for this many batches; the measure before and after. */
export async function learn(
  estimator: Estimator,
  measure: (bandit: Bandit) => number,
  steps: number,
  seed: string,
): Promise<readonly [before: number, after: number]> {
  const bandit = makeBandit(createRandom(`${seed}/bandit`));
  const random = createRandom(`${seed}/training`);
  const before = measure(bandit);
  for (let step = 0; step < steps; step++) {
    const gradient = await estimator(bandit, drawTurns(bandit, random), random);
    for (const [task, row] of bandit.logits.entries())
      for (const [answer, logit] of row.entries())
        row[answer] = logit + RATE * (gradient[task]?.[answer] ?? 0);
  }
  return [before, measure(bandit)];
}

const RATE = 2;
export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
const dot = (one: readonly number[], other: readonly number[]): number =>
  one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0);
