import type { Budget } from '../src/core/budget.ts';
import { errorMessage } from '../src/core/failure.ts';
import type { JobCost } from '../src/core/schedule.ts';
import {
  type Pending,
  type Sampler,
  type StepInput,
  type TrainingEngine,
  TrainingError,
  type TrainingModel,
} from '../src/core/training.ts';

/** Tokens by how engines charge for them: reading prompts, sampling replies, training. */
export interface StepTokens {
  readonly prefill: number;
  readonly sample: number;
  readonly train: number;
}

/** US dollars for a million of each. */
export type StepPrice = StepTokens;

/** What training may use, step by step. Both functions are called from other threads. */
export interface StepBudget {
  /** Sets the most that a request can use aside. Rejects when the day's budget does not cover it. */
  reserve(most: JobCost, purpose: 'sample' | 'train'): Promise<number>;
  settle(reservation: number, used: JobCost): Promise<void>;
}

interface StepBudgetOptions {
  /** Undefined when nothing limits it: a person has started the window, and the engine costs nothing. */
  readonly reserve: Reserve | undefined;
  /** The engine's name. */
  readonly engine: string;
}

/** The reservations of a budget. */
type Reserve = (...asked: Parameters<Budget['reserve']>) => ReturnType<Budget['reserve']>;

const NONE: StepTokens = { prefill: 0, sample: 0, train: 0 };
const MILLION = 1_000_000;

/** What tokens cost at this price; without one they count as unpriced. */
export function costOfStep(
  { prefill, sample, train }: StepTokens,
  price: StepPrice | undefined,
): Required<JobCost> {
  const tokens = prefill + sample + train;
  if (price === undefined) return { tokens, usd: 0, unpriced: tokens };
  const usd = (prefill * price.prefill + sample * price.sample + train * price.train) / MILLION;
  return { tokens, usd, unpriced: 0 };
}

/** Whether it is known that the engine costs nothing. */
export const isFreeEngine = (price: StepPrice | undefined): boolean =>
  price !== undefined && price.prefill + price.sample + price.train === 0;

/** Why an engine must not be called for training: nothing would limit what it costs. Undefined when it may be. */
export function findUnlimitedCost(
  engine: string,
  price: StepPrice | undefined,
  hasTokenLimit: boolean,
): TrainingError | undefined {
  if (price !== undefined || hasTokenLimit) return undefined;
  return new TrainingError(
    'user',
    `What ${engine} costs at the training server is not known, and no limit was set: nothing is trained. ` +
      'Set train.engine.price, in US dollars per million tokens, or schedule.budget.tokensPerDay.',
  );
}

/** The daemon's side: reservations of the day's budget of background jobs. */
export function createStepBudget({ reserve, engine }: StepBudgetOptions): StepBudget {
  const held = new Map<number, (used: JobCost) => Promise<void>>();
  let lastId = 0;
  return {
    reserve: async (most, purpose) => {
      const id = ++lastId;
      const got = await reserve?.(most, { kind: 'training step', model: engine, purpose });
      if (got?.isGranted === false) throw new TrainingError('server', got.why);
      if (got !== undefined) held.set(id, got.settle);
      return id;
    },
    settle: async (id, used) => {
      const settle = held.get(id);
      held.delete(id);
      await settle?.(used);
    },
  };
}

/** Reservations in tokens, on the side that sends the requests. */
interface TokenBudget {
  reserve(most: StepTokens, purpose: 'sample' | 'train'): Promise<number>;
  settle(reservation: number, used: StepTokens): Promise<void>;
}

const inTokens = (budget: StepBudget, price: StepPrice | undefined): TokenBudget => ({
  reserve: (most, purpose) =>
    budget.reserve(costOfStep(most, price), purpose).catch((error: Error) => {
      // It may come from another thread, which passes on the message alone.
      throw error instanceof TrainingError ? error : new TrainingError('server', error.message);
    }),
  settle: (reservation, used) => budget.settle(reservation, costOfStep(used, price)),
});

/** The same engine, which reserves the tokens of every request before it sends it. */
export const withStepBudget = (
  engine: TrainingEngine,
  budget: StepBudget,
  price: StepPrice | undefined,
): TrainingEngine => ({
  ...withTrainingBudget(engine, budget, price),
  openSampler: async (path) => limitSampler(await engine.openSampler(path), inTokens(budget, price)),
});

/** The same engine, which reserves what it trains on. Where attempts are reserved as a whole, samples must not be reserved again. */
export const withTrainingBudget = (
  engine: TrainingEngine,
  budget: StepBudget,
  price: StepPrice | undefined,
): TrainingEngine => ({
  ...engine,
  createModel: async (options) => limitModel(await engine.createModel(options), inTokens(budget, price)),
  openModel: async (path) => limitModel(await engine.openModel(path), inTokens(budget, price)),
});

/** A budget whose reservations also have to fit into the day's budget of background jobs. */
export const withinStepBudget = (budget: Budget, day: StepBudget): Budget => ({
  ...budget,
  reserve: async (most, work) => {
    const own = await budget.reserve(most, work);
    if (!own.isGranted) return own;
    try {
      const held = await day.reserve(costIn(most), 'sample');
      return {
        isGranted: true,
        settle: async (used) => {
          await own.settle(used);
          await day.settle(held, costIn(used));
        },
      };
    } catch (error) {
      await own.settle({});
      return { isGranted: false, why: errorMessage(error) };
    }
  },
});

const costIn = ({ tokens = 0, usd = 0, unpriced = 0 }: JobCost): JobCost => ({ tokens, usd, unpriced });

const limitSampler = (sampler: Sampler, budget: TokenBudget): Sampler => ({
  sample: async (request, signal) => {
    const prompt = { ...NONE, prefill: request.prompt.length };
    const most = { ...prompt, sample: request.count * request.maxTokens };
    const id = await budget.reserve(most, 'sample');
    let used: StepTokens = prompt;
    try {
      const sequences = await sampler.sample(request, signal);
      used = { ...prompt, sample: sequences.reduce((sum, { tokens }) => sum + tokens.length, 0) };
      return sequences;
    } finally {
      await budget.settle(id, used);
    }
  },
  close: () => sampler.close(),
});

/** Operations take effect in the order of submission, so each waits until the one before it was submitted. */
function limitModel(model: TrainingModel, budget: TokenBudget): TrainingModel {
  let submitted: Promise<unknown> = Promise.resolve();
  /** After a refusal nothing more is submitted: a step without its gradients would move the weights by momentum. */
  const inOrder = <T>(submit: () => Promise<T>): Promise<T> => {
    const next = submitted.then(submit);
    submitted = next;
    next.catch(() => undefined);
    return next;
  };
  const passed = (
    input: StepInput,
    charge: (tokens: number) => StepTokens,
    start: () => Pending<Awaited<ReturnType<TrainingModel['forward']>>>,
  ) => {
    const used = charge(input.data.reduce((sum, { tokens }) => sum + tokens.length, 0));
    const sent = inOrder(async () => {
      const id = await budget.reserve(used, 'train');
      return { id, pending: start() };
    });
    return sent.then(({ id, pending }) => pending.done.finally(() => budget.settle(id, used)));
  };
  return {
    ...model,
    forward: (input, signal) =>
      passed(
        input,
        (prefill) => ({ ...NONE, prefill }),
        () => ({ done: model.forward(input, signal) }),
      ),
    forwardBackward: (input, signal) => ({
      done: passed(
        input,
        (train) => ({ ...NONE, train }),
        () => model.forwardBackward(input, signal),
      ),
    }),
    optimStep: (adam, signal) => {
      const sent = inOrder(async () => ({ pending: model.optimStep(adam, signal) }));
      return { done: sent.then(({ pending }) => pending.done) };
    },
  };
}
