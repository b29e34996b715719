import { createRandom } from '../../src/base/random.ts';
import {
  type AdamSettings,
  type EngineProfile,
  type Sampler,
  type StepInput,
  type StepOutput,
  type TrainDatum,
  type TrainingEngine,
  TrainingError,
  type TrainingModel,
} from '../../src/core/training.ts';

/** A policy that is a table: the logits of the next token, for each pair of tokens that may come before it. */
export interface Table {
  readonly logits: Float64Array;
  readonly gathered: Float64Array;
  readonly mean: Float64Array;
  readonly square: Float64Array;
  steps: number;
}

export interface TabularOptions {
  readonly vocabulary: number;
  readonly reduction?: EngineProfile['reduction'];
  readonly contextLength?: number;
  readonly learningRate?: number;
}

/** What outlives the processes that talk to it: saved states, and models that someone left behind. */
export interface TabularServer {
  readonly options: TabularOptions;
  readonly saved: Map<string, Table>;
  readonly models: Map<string, Table>;
  /** Pairs of a backward pass and a step that any model ever took. */
  optimSteps: number;
}

export const createServer = (options: TabularOptions): TabularServer => ({
  options,
  saved: new Map(),
  models: new Map(),
  optimSteps: 0,
});

const fresh = (size: number): Table => ({
  logits: new Float64Array(size),
  gathered: new Float64Array(size),
  mean: new Float64Array(size),
  square: new Float64Array(size),
  steps: 0,
});

export const copyOf = (table: Table): Table => ({
  logits: table.logits.slice(),
  gathered: table.gathered.slice(),
  mean: table.mean.slice(),
  square: table.square.slice(),
  steps: table.steps,
});

/** Weights and optimiser, to the last bit. */
export const bitsOf = (table: Table | undefined): string =>
  [table?.logits, table?.mean, table?.square, table?.gathered]
    .map((values) => Buffer.from(values?.buffer ?? new ArrayBuffer(0)).toString('base64'))
    .join(' ');

/** Where the row begins that says what follows the last two of these tokens. */
const rowOf = (tokens: readonly number[], end: number, vocabulary: number): number => {
  const last = tokens[end - 1] ?? 0;
  const before = tokens[end - 2] ?? 0;
  return (before * vocabulary + last) * vocabulary;
};

const probabilities = (logits: Float64Array, row: number, vocabulary: number): Float64Array => {
  const part = logits.subarray(row, row + vocabulary);
  const top = Math.max(...part);
  const weights = part.map((logit) => Math.exp(logit - top));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
};

export const logprobAt = (
  logits: Float64Array,
  tokens: readonly number[],
  place: number,
  target: number,
  vocabulary: number,
): number => Math.log(probabilities(logits, rowOf(tokens, place + 1, vocabulary), vocabulary)[target] ?? 0);

/** Loss and its slope in the log-probability p of one target. */
function tokenLoss(input: StepInput, datum: TrainDatum, place: number, p: number): [number, number] {
  const weight = datum.weights[place] ?? 0;
  if (weight === 0) return [0, 0];
  if (input.loss === 'cross_entropy') return [-p * weight, -weight];
  const advantage = datum.advantages?.[place] ?? 0;
  const ratio = Math.exp(p - (datum.logprobs?.[place] ?? Number.NaN));
  const free = ratio * advantage * weight;
  if (input.loss === 'importance_sampling') return [-free, -free];
  const low = input.config?.clip_low_threshold ?? 0.8;
  const high = input.config?.clip_high_threshold ?? 1.2;
  const clipped = Math.min(high, Math.max(low, ratio)) * advantage * weight;
  return clipped < free ? [-clipped, 0] : [-free, -free];
}

function pass(server: TabularServer, table: Table, input: StepInput, isBackward: boolean): StepOutput {
  const { vocabulary, reduction = 'sum' } = server.options;
  if (!PROFILE.losses.includes(input.loss)) throw new TrainingError('user', `no loss ${input.loss}`);
  let sum = 0;
  const logprobs = input.data.map((datum) => {
    if (datum.tokens.length > (server.options.contextLength ?? PROFILE.contextLength))
      throw new TrainingError('user', 'the sequence is longer than the context');
    const divisor = reduction === 'sum' ? 1 : datum.weights.reduce((all, weight) => all + weight, 0);
    return datum.targets.map((target, place) => {
      const row = rowOf(datum.tokens, place + 1, vocabulary);
      const chances = probabilities(table.logits, row, vocabulary);
      const p = Math.log(chances[target] ?? 0);
      const [loss, slope] = tokenLoss(input, datum, place, p);
      sum += loss / divisor;
      if (isBackward && slope !== 0)
        for (let token = 0; token < vocabulary; token++) {
          const toward = (token === target ? 1 : 0) - (chances[token] ?? 0);
          table.gathered[row + token] = (table.gathered[row + token] ?? 0) + (slope * toward) / divisor;
        }
      return p;
    });
  });
  return { logprobs, metrics: { 'loss:sum': sum } };
}

function step(server: TabularServer, table: Table, adam: AdamSettings): Readonly<Record<string, number>> {
  const { learningRate, beta1 = 0.9, beta2 = 0.95, eps = 1e-12, gradClipNorm = 0 } = adam;
  const norm = Math.hypot(...table.gathered);
  const scale = gradClipNorm > 0 && norm > gradClipNorm ? gradClipNorm / norm : 1;
  table.steps++;
  server.optimSteps++;
  table.gathered.forEach((raw, at) => {
    const gradient = raw * scale;
    const mean = beta1 * (table.mean[at] ?? 0) + (1 - beta1) * gradient;
    const square = beta2 * (table.square[at] ?? 0) + (1 - beta2) * gradient ** 2;
    table.mean[at] = mean;
    table.square[at] = square;
    const direction =
      mean / (1 - beta1 ** table.steps) / (Math.sqrt(square / (1 - beta2 ** table.steps)) + eps);
    table.logits[at] = (table.logits[at] ?? 0) - learningRate * direction;
  });
  table.gathered.fill(0);
  return { 'grad_norm:mean': norm };
}

const PROFILE: EngineProfile = {
  name: 'tabular',
  baseModel: 'table',
  wire: 'json',
  losses: ['cross_entropy', 'importance_sampling', 'ppo'],
  reduction: 'sum',
  learningRate: 0.1,
  contextLength: 64,
  inputs: ['target_tokens', 'weights', 'advantages', 'logprobs'],
};

/** One process's way to the server. Exact: what it is asked for twice it does twice, in the same bits. */
export function createTabularEngine(server: TabularServer): TrainingEngine {
  const { vocabulary, reduction = 'sum', contextLength = PROFILE.contextLength } = server.options;
  const learningRate = server.options.learningRate ?? PROFILE.learningRate;
  const keep = (model: string, kind: string, name: string, table: Table): string => {
    const path = `${model}/${kind}/${name}`;
    if (server.saved.has(path)) throw new TrainingError('user', `${path} exists`);
    server.saved.set(path, copyOf(table));
    return path;
  };
  const load = (path: string): Table => {
    const table = server.saved.get(path);
    if (table === undefined) throw new TrainingError('user', `there is no ${path}`);
    return copyOf(table);
  };
  const open = (table: Table): TrainingModel => {
    const id = `model-${server.models.size}`;
    server.models.set(id, table);
    let queue: Promise<unknown> = Promise.resolve();
    const submit = <T>(work: () => T, signal?: AbortSignal): Promise<T> => {
      const done = queue.then(() => {
        signal?.throwIfAborted();
        return work();
      });
      queue = done.catch(() => undefined);
      return done;
    };
    return {
      id,
      forward: (input, signal) => submit(() => pass(server, table, input, false), signal),
      forwardBackward: (input, signal) => ({ done: submit(() => pass(server, table, input, true), signal) }),
      optimStep: (adam, signal) => ({ done: submit(() => step(server, table, adam), signal) }),
      saveState: (name) => submit(() => keep(id, 'weights', name, table)),
      saveForSampler: (name) => submit(() => keep(id, 'sampler', name, table)),
      close: async () => undefined,
    };
  };
  return {
    profile: { ...PROFILE, reduction, contextLength, learningRate },
    createModel: async () => open(fresh(vocabulary ** 3)),
    openModel: async (path) => open(load(path)),
    openSampler: async (path) =>
      samplerOf(path === undefined ? fresh(vocabulary ** 3) : load(path), vocabulary),
    close: async () => undefined,
  };
}

const samplerOf = ({ logits }: Table, vocabulary: number): Sampler => ({
  sample: async ({ prompt, count, maxTokens, stop, seed = 0 }) =>
    Array.from({ length: count }, (_, at) => {
      const random = createRandom(`tabular/${seed}/${at}`);
      const all = [...prompt];
      const logprobs: number[] = [];
      while (logprobs.length < maxTokens) {
        const chances = probabilities(logits, rowOf(all, all.length, vocabulary), vocabulary);
        let left = random.next();
        const drawn = chances.findIndex((chance) => {
          left -= chance;
          return left < 0;
        });
        const token = drawn === -1 ? vocabulary - 1 : drawn;
        all.push(token);
        logprobs.push(Math.log(chances[token] ?? 0));
        if (stop.includes(token)) break;
      }
      const tokens = all.slice(prompt.length);
      return { tokens, logprobs, stop: stop.includes(tokens.at(-1) ?? -1) ? 'stop' : 'length' };
    }),
  close: async () => undefined,
});
