import type { JobContext } from '../core/schedule.ts';
import {
  type Pending,
  type Sampler,
  type StepInput,
  type TrainingEngine,
  TrainingError,
  type TrainingModel,
} from '../core/training.ts';

/** Tokens by how engines charge for them: reading prompts, sampling replies, training. */
export interface StepTokens {
  readonly prefill: number;
  readonly sample: number;
  readonly train: number;
}

/** US dollars for a million of each. */
export type StepPrice = StepTokens;

/** What a training window may use, step by step. Both functions are called from the training thread. */
export interface StepBudget {
  /** Sets the most that a request can use aside. Rejects when the day's budget does not cover it. */
  reserve(most: StepTokens, purpose: 'sample' | 'train'): Promise<number>;
  settle(reservation: number, used: StepTokens): Promise<void>;
}

interface StepBudgetOptions {
  /** Undefined when nobody limits this window: a person has started it. */
  readonly reserve: JobContext['reserve'] | undefined;
  /** Undefined when it is not known. */
  readonly price: StepPrice | undefined;
  /** The engine's name. */
  readonly engine: string;
}

const NONE: StepTokens = { prefill: 0, sample: 0, train: 0 };
const MILLION = 1_000_000;

/** The daemon's side: tokens become an amount of the job's budget. */
export function createStepBudget({ reserve, price, engine }: StepBudgetOptions): StepBudget {
  const held = new Map<number, (used: StepTokens) => Promise<void>>();
  let lastId = 0;
  const costOfStep = ({ prefill, sample, train }: StepTokens) => {
    const tokens = prefill + sample + train;
    if (price === undefined) return { tokens, usd: 0, unpriced: tokens };
    const usd = (prefill * price.prefill + sample * price.sample + train * price.train) / MILLION;
    return { tokens, usd, unpriced: 0 };
  };
  return {
    reserve: async (most, purpose) => {
      const id = ++lastId;
      const got = await reserve?.(costOfStep(most), { kind: 'training step', model: engine, purpose });
      if (got?.isGranted === false) throw new TrainingError('server', got.why);
      if (got !== undefined) held.set(id, (used) => got.settle(costOfStep(used)));
      return id;
    },
    settle: async (id, used) => {
      const settle = held.get(id);
      held.delete(id);
      await settle?.(used);
    },
  };
}

/** The same engine, which reserves the tokens of every request before it sends it. */
export function withStepBudget(engine: TrainingEngine, budget: StepBudget): TrainingEngine {
  return {
    ...engine,
    createModel: async (options) => limitModel(await engine.createModel(options), budget),
    openModel: async (path) => limitModel(await engine.openModel(path), budget),
    openSampler: async (path) => limitSampler(await engine.openSampler(path), budget),
  };
}

const limitSampler = (sampler: Sampler, budget: StepBudget): Sampler => ({
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
function limitModel(model: TrainingModel, budget: StepBudget): TrainingModel {
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
