import { checkBatch } from '../check-requests.ts';
import type { AdamParams, BatchResult, LoraOptions, TrainBatch } from '../engine.ts';
import { EngineError } from '../engine.ts';
import { createLoraGradient } from '../model/backward.ts';
import type { DecoderWeights } from '../model/decoder-weights.ts';
import { type BoundPiece, createLoadedModel } from '../model/loaded-model.ts';
import { createLora, type Lora } from '../model/lora.ts';
import { createMachine } from '../model/machine.ts';
import { createAdapter, readAdapter, stepAdapter, type TrainedAdapter, writeAdapter } from './adapter.ts';
import { runBatch } from './run-batch.ts';

/**
 * Trains adapters of one model, by name. A call that throws an EngineError has changed nothing.
 */
export interface Trainer {
  create(name: string, options: LoraOptions): void;
  forward(name: string | undefined, batch: TrainBatch): BatchResult;
  forwardBackward(name: string, batch: TrainBatch): BatchResult;
  optimStep(name: string, adam: AdamParams): Readonly<Record<string, number>>;
  /** A copy of the current weights. */
  copy(name: string): Lora;
  save(name: string, withOptimizer: boolean): Uint8Array;
  load(name: string, saved: Uint8Array, withOptimizer: boolean): void;
  dispose(name: string): void;
}

/** Bounds memory: an adapter of rank 8 in training takes 0.7 MB on the model that ships. */
const MAX_ADAPTERS = 64;

export const createTrainer = (weights: DecoderWeights): Trainer => {
  const { shape } = weights;
  const machine = createMachine(shape);
  const model = createLoadedModel(machine, weights, true);
  const adapters = new Map<string, TrainedAdapter>();
  let bound: {
    readonly lora: Lora | undefined;
    readonly version: number;
    readonly pieces: readonly BoundPiece[];
  };
  bound = { lora: undefined, version: 0, pieces: model.bind(undefined) };

  const find = (name: string): TrainedAdapter => {
    const adapter = adapters.get(name);
    if (adapter === undefined) throw new EngineError(`there is no adapter "${name}"`);
    return adapter;
  };
  const add = (name: string, adapter: TrainedAdapter): void => {
    if (adapters.size >= MAX_ADAPTERS) {
      throw new EngineError(`there are ${MAX_ADAPTERS} adapters, which is the limit; dispose of one first`);
    }
    adapters.set(name, adapter);
  };
  const bind = (adapter: TrainedAdapter | undefined): readonly BoundPiece[] => {
    const lora = adapter?.lora;
    const version = adapter?.version ?? 0;
    if (bound.lora !== lora || bound.version !== version) bound = { lora, version, pieces: model.bind(lora) };
    return bound.pieces;
  };
  const addGradient = ({ gathered }: TrainedAdapter, gradient: Float32Array): void => {
    const sum = gathered.map((value, i) => value + (gradient[i] ?? 0));
    if (!sum.every(Number.isFinite)) throw new EngineError('the gradient of the batch is not finite');
    gathered.set(sum);
  };

  return {
    create: (name, options) => add(name, createAdapter(createLora(shape, options))),
    forward(name, batch) {
      const adapter = name === undefined ? undefined : find(name);
      checkBatch(batch, shape);
      bind(adapter);
      return runBatch(model, batch);
    },
    forwardBackward(name, batch) {
      const adapter = find(name);
      checkBatch(batch, shape);
      const pieces = bind(adapter);
      const ground = machine.arena.mark();
      try {
        const gradient = createLoraGradient(machine, pieces, adapter.lora.options);
        const result = runBatch(model, batch, gradient);
        addGradient(adapter, gradient.read());
        return result;
      } finally {
        machine.arena.rewind(ground);
      }
    },
    optimStep: (name, adam) => stepAdapter(find(name), adam),
    copy(name) {
      const { options, values } = find(name).lora;
      return { options, values: values.slice() };
    },
    save: (name, withOptimizer) => writeAdapter(find(name), weights, withOptimizer),
    load: (name, saved, withOptimizer) => add(name, readAdapter(saved, weights, withOptimizer)),
    dispose(name) {
      find(name);
      adapters.delete(name);
    },
  };
};
