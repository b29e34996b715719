import type { TrainingEngine } from '../src/core/training.ts';
import { modelBillions } from '../src/text/model-size.ts';

export const TRAIN_AMOUNTS = ['light', 'night', 'long'] as const;
/** How much one window trains. */
export type TrainAmount = (typeof TRAIN_AMOUNTS)[number];

/** A batch is so many groups of attempts at a task each. */
export interface WindowSize {
  readonly steps: number;
  readonly groups: number;
  readonly attempts: number;
}

/**
 * Of a language model at a server. Hundreds of attempts for an update are what recipes of others have (128 × 16 in tinker-cookbook's
 * rl_basic), and what taught a model of 1.5 billion parameters to follow unseen lessons (docs/decisions/0043).
 */
const SERVER: Readonly<Record<TrainAmount, WindowSize>> = {
  light: { steps: 10, groups: 16, attempts: 8 },
  night: { steps: 20, groups: 64, attempts: 8 },
  long: { steps: 100, groups: 96, attempts: 8 },
};
/** Of the embedded policy, which shows the loop and learns little. */
const EMBEDDED: Readonly<Record<TrainAmount, WindowSize>> = {
  light: { steps: 5, groups: 4, attempts: 8 },
  night: { steps: 10, groups: 4, attempts: 8 },
  long: { steps: 40, groups: 8, attempts: 8 },
};

export const windowSize = (amount: TrainAmount, isEmbedded: boolean): WindowSize =>
  (isEmbedded ? EMBEDDED : SERVER)[amount];

/** What suits a model of this size. */
export interface ModelTuning {
  readonly rank: number;
  /** Of GRPO; undefined: the engine's default. */
  readonly learningRate: number | undefined;
  /** Of supervised steps. */
  readonly teachRate: number;
  /** Of remembering: at the rate of teaching, reading was lost (lab/results/reading.md). */
  readonly rememberRate: number;
}

/** Above this many billions of parameters rates that others use for such models hold. */
const SMALL_MODEL = 4;

/**
 * Rank 32 is the protocol's default and that of the recipes; the embedded policy gains nothing above 8. Adapters in bfloat16 hardly move
 * at 1e-4 (lab/results/reading.md); 5e-4 is also what the cookbook's rule for adapters gives a model of 1.5 billion parameters.
 */
export function modelTuning(baseModel: string, isEmbedded: boolean): ModelTuning {
  if (isEmbedded) return { rank: 8, learningRate: undefined, teachRate: 5e-3, rememberRate: 5e-3 };
  const isSmall = (modelBillions(baseModel) ?? Number.POSITIVE_INFINITY) <= SMALL_MODEL;
  return isSmall
    ? { rank: 32, learningRate: 5e-4, teachRate: 5e-4, rememberRate: 3e-4 }
    : { rank: 32, learningRate: 4e-5, teachRate: 1e-4, rememberRate: 6e-5 };
}

/**
 * Supervised steps of the reading stage: many tasks with few attempts each, since a reply that is known to be right stands in where no
 * attempt is right.
 */
export const TAUGHT = { tasks: 1_920, attempts: 4, keep: 1, epochs: 2 } as const;

/** How many tasks a window of remembering learns from, whatever they are about. */
export const REMEMBERED_TASKS: Readonly<Record<TrainAmount, number>> = {
  light: 300,
  night: 900,
  long: 1_800,
};

/** Groups that are sampled at the same time: a server makes batches of them, the embedded engine has one processor. */
export const groupsAtOnce = ({ profile }: Pick<TrainingEngine, 'profile'>): number =>
  profile.name === 'nano' ? 4 : 128;
