import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom } from '../../../../src/base/random.ts';
import { readSafetensors, writeSafetensors } from '../../../../src/base/safetensors.ts';
import {
  type AdamParams,
  type BatchResult,
  type Engine,
  EngineError,
  type TrainBatch,
} from '../../../../train/nano/engine.ts';

const SIZE = 16;
const CELLS = SIZE * SIZE;
const PARTS = [
  'base_model.model.bigram.lora_A.weight',
  'optimizer.gathered',
  'optimizer.mean',
  'optimizer.square',
];

interface Table {
  readonly values: Float32Array;
  readonly gathered: Float32Array;
  readonly mean: Float32Array;
  readonly square: Float32Array;
  steps: number;
}

export interface BigramEngine extends Engine {
  /** The number of adapters and frozen copies. */
  readonly held: number;
  /** The next call of this name rejects, as in a failure of the machine. */
  breakNext(call: 'forwardBackward' | 'optimStep' | 'sample'): void;
  /** Holds all training and sampling calls until the result is called. */
  pause(): () => void;
}

/** The smallest model that learns: a table of which token follows which, trained for real by all four losses. */
export function createBigramEngine({ delayMs = 0 } = {}): BigramEngine {
  const random = createRandom('bigram');
  const base = Float32Array.from({ length: CELLS }, () => random.next() - 0.5);
  const tables = new Map<string, Table>();
  const broken = new Set<string>();
  let names = 0;
  let resumed: Promise<void> = Promise.resolve();

  const put = (table: Table): string => {
    const name = `table-${names++}`;
    tables.set(name, table);
    return name;
  };
  const get = (name: string): Table => {
    const table = tables.get(name);
    if (table === undefined) throw new Error(`no table ${name}`);
    return table;
  };
  const work = async (call: string): Promise<void> => {
    if (delayMs > 0) await sleep(delayMs);
    await resumed;
    if (broken.delete(call)) throw new Error('the machine broke');
  };
  const probabilities = (name: string | undefined, token: number): Float64Array => {
    const delta = name === undefined ? undefined : get(name).values;
    const row = Float64Array.from({ length: SIZE }, (_, i) =>
      Math.exp((base[token * SIZE + i] ?? 0) + (delta?.[token * SIZE + i] ?? 0)),
    );
    const total = row.reduce((sum, value) => sum + value, 0);
    return row.map((value) => value / total);
  };

  const evaluate = (
    name: string | undefined,
    batch: TrainBatch,
    gradient: Float32Array | undefined,
  ): BatchResult => {
    let loss = 0;
    const logprobs = batch.data.map((datum) =>
      Float32Array.from(datum.targets, (target, i) => {
        const token = datum.tokens[i] ?? 0;
        const row = probabilities(name, token);
        const p = Math.log(row[target] ?? 0);
        const [value, slope] = lossOf(
          batch,
          p,
          datum.weights?.[i] ?? 1,
          datum.advantages?.[i] ?? 0,
          datum.logprobs?.[i] ?? 0,
        );
        loss += value;
        if (gradient !== undefined)
          for (let j = 0; j < SIZE; j++) {
            const at = token * SIZE + j;
            gradient[at] = (gradient[at] ?? 0) + slope * ((j === target ? 1 : 0) - (row[j] ?? 0));
          }
        return p;
      }),
    );
    return { logprobs, metrics: { 'loss:sum': loss } };
  };

  return {
    model: { name: 'bigram-16', vocabulary: SIZE, contextLength: 64, layers: 1, width: SIZE },
    get held() {
      return tables.size;
    },
    breakNext: (call) => broken.add(call),
    pause: () => {
      let resume = (): void => undefined;
      resumed = new Promise((resolve) => {
        resume = resolve;
      });
      return () => resume();
    },
    createAdapter: async () => put(emptyTable()),
    forward: async (name, batch) => {
      await work('forward');
      return evaluate(name, batch, undefined);
    },
    forwardBackward: async (name, batch) => {
      const { gathered } = get(name);
      const half = evaluate(name, batch, gathered);
      await work('forwardBackward');
      return half;
    },
    optimStep: async (name, adam) => {
      step(get(name), adam);
      await work('optimStep');
      return { 'grad_norm:mean': 1 };
    },
    freeze: async (name) => put({ ...emptyTable(), values: get(name).values.slice() }),
    sample: async (name, request, signal) => {
      await work('sample');
      const { prompt, count } = request;
      const draws = createRandom(`sample/${request.seed}`);
      const sequences = Array.from({ length: count }, () => {
        const tokens: number[] = [];
        const logprobs: number[] = [];
        let last = prompt.at(-1) ?? 0;
        while (tokens.length < request.maxTokens) {
          signal.throwIfAborted();
          const row = probabilities(name, last);
          last = pick(row, draws.next(), request.temperature);
          tokens.push(last);
          logprobs.push(Math.log(row[last] ?? 0));
          if (request.stop.includes(last)) break;
        }
        const stop =
          request.stop.includes(last) && tokens.length > 0 ? ('stop' as const) : ('length' as const);
        return { tokens: Int32Array.from(tokens), logprobs: Float32Array.from(logprobs), stop };
      });
      if (request.wantsPromptLogprobs !== true) return { sequences };
      const promptLogprobs = Float32Array.from(prompt, (token, i) =>
        i === 0 ? Number.NaN : Math.log(probabilities(name, prompt[i - 1] ?? 0)[token] ?? 0),
      );
      return { sequences, promptLogprobs };
    },
    save: async (name, withOptimizer) => {
      const { values, gathered, mean, square, steps } = get(name);
      const parts = [values, ...(withOptimizer ? [gathered, mean, square] : [])];
      const tensors = new Map(
        parts.map((part, i) => [PARTS[i] ?? '', { shape: [SIZE, SIZE], values: part }]),
      );
      return writeSafetensors(tensors, { steps: String(withOptimizer ? steps : 0) });
    },
    load: async (saved, withOptimizer) => {
      const { tensors, metadata } = readSafetensors(saved);
      const [values, gathered, mean, square] = PARTS.map((name) => tensors.get(name)?.values);
      if (values?.length !== CELLS) throw new EngineError('not a saved table');
      if (!withOptimizer) return put({ ...emptyTable(), values });
      if (gathered === undefined || mean === undefined || square === undefined)
        throw new EngineError('saved without its optimizer');
      return put({ values, gathered, mean, square, steps: Number(metadata.steps) });
    },
    dispose: async (name) => {
      tables.delete(name);
    },
    close: async () => tables.clear(),
  };
}

function emptyTable(): Table {
  const make = (): Float32Array => new Float32Array(CELLS);
  return { values: make(), gathered: make(), mean: make(), square: make(), steps: 0 };
}

/** The loss of one token and its slope along the log-probability. */
function lossOf(
  { loss, clip }: TrainBatch,
  p: number,
  weight: number,
  advantage: number,
  q: number,
): [number, number] {
  const { low, high } = clip ?? { low: 0.8, high: 1.2 };
  const ratio = Math.exp(p - q);
  const clipped = Math.min(Math.max(ratio, low), high);
  if (loss === 'cross_entropy') return [-p * weight, -weight];
  const a = advantage * (weight === 0 ? 0 : 1);
  if (loss === 'importance_sampling') return [-ratio * a, -ratio * a];
  if (loss === 'cispo') return [-clipped * p * a, -clipped * a];
  return ratio * a <= clipped * a ? [-ratio * a, -ratio * a] : [-clipped * a, 0];
}

function step(table: Table, { learningRate, beta1, beta2, eps, weightDecay }: AdamParams): void {
  table.steps++;
  for (let i = 0; i < CELLS; i++) {
    const g = table.gathered[i] ?? 0;
    table.mean[i] = beta1 * (table.mean[i] ?? 0) + (1 - beta1) * g;
    table.square[i] = beta2 * (table.square[i] ?? 0) + (1 - beta2) * g * g;
    const mean = (table.mean[i] ?? 0) / (1 - beta1 ** table.steps);
    const square = (table.square[i] ?? 0) / (1 - beta2 ** table.steps);
    const before = table.values[i] ?? 0;
    table.values[i] = before - learningRate * (mean / (Math.sqrt(square) + eps) + weightDecay * before);
  }
  table.gathered.fill(0);
}

function pick(row: Float64Array, draw: number, temperature: number): number {
  if (temperature === 0) return row.indexOf(Math.max(...row));
  const heat = row.map((value) => value ** (1 / temperature));
  let left = draw * heat.reduce((sum, value) => sum + value, 0);
  const found = heat.findIndex((value) => {
    left -= value;
    return left < 0;
  });
  return found < 0 ? SIZE - 1 : found;
}
