import { type Engine, EngineError, type EngineModel } from './engine.ts';
import type { ModelShape } from './model/decoder-weights.ts';
import type { Lora } from './model/lora.ts';
import type { EngineSampler } from './sampling/sampler.ts';
import type { Trainer } from './training/trainer.ts';

/** The same calls as promises, carried out in the order in which they were made. */
export type AsyncCalls<Calls> = {
  readonly [Name in keyof Calls]: Calls[Name] extends (...operands: infer Operands) => infer Answer
    ? (...operands: Operands) => Promise<Awaited<Answer>>
    : never;
};

interface EngineComponents {
  readonly model: EngineModel;
  readonly trainer: AsyncCalls<Trainer>;
  readonly sampler: EngineSampler;
  close(): Promise<void>;
}

/** Bounds memory: a frozen copy of rank 8 takes 0.2 MB on the model that ships. */
const MAX_COPIES = 512;

export const engineModel = (name: string, shape: ModelShape): EngineModel => ({
  name,
  vocabulary: shape.vocabulary,
  contextLength: shape.contextLength,
  layers: shape.layers,
  width: shape.width,
});

/**
 * An engine from a trainer and a sampler, wherever those run. Calls on an adapter take effect in the order they were made:
 * sampling from an adapter waits for the training steps called before, sampling from a frozen copy waits for none.
 */
export const composeEngine = ({ model, trainer, sampler, close }: EngineComponents): Engine => {
  const adapters = new Set<string>();
  const copies = new Map<string, Lora>();
  let lastAdapter = 0;
  let lastCopy = 0;
  let lastRead = 0;

  const known = (name: string): string => {
    if (!adapters.has(name)) throw new EngineError(`there is no adapter "${name}"`);
    return name;
  };
  const added = async (make: (name: string) => Promise<void>): Promise<string> => {
    const name = `adapter-${++lastAdapter}`;
    adapters.add(name);
    try {
      await make(name);
    } catch (error) {
      adapters.delete(name);
      throw error;
    }
    return name;
  };
  const named = async (weights: string) => {
    const copy = copies.get(weights);
    if (copy !== undefined) return { name: weights, lora: copy };
    if (!adapters.has(weights)) throw new EngineError(`there are no weights "${weights}"`);
    // The weights may differ at every call, so that every copy needs a name of its own.
    return { name: `${weights}/${++lastRead}`, lora: await trainer.copy(weights) };
  };

  return {
    model,
    createAdapter: (options) => added((name) => trainer.create(name, options)),
    forward: async (adapter, batch) =>
      trainer.forward(adapter === undefined ? undefined : known(adapter), batch),
    forwardBackward: async (adapter, batch) => trainer.forwardBackward(known(adapter), batch),
    optimStep: async (adapter, adam) => trainer.optimStep(known(adapter), adam),
    async freeze(adapter) {
      if (copies.size >= MAX_COPIES) {
        throw new EngineError(
          `there are ${MAX_COPIES} frozen copies, which is the limit; dispose of one first`,
        );
      }
      const name = `copy-${++lastCopy}`;
      copies.set(name, await trainer.copy(known(adapter)));
      return name;
    },
    async sample(weights, request, signal) {
      return sampler.sample(weights === undefined ? undefined : await named(weights), request, signal);
    },
    save: async (adapter, withOptimizer) => trainer.save(known(adapter), withOptimizer),
    load: (saved, withOptimizer) => added((name) => trainer.load(name, saved, withOptimizer)),
    async dispose(name) {
      if (copies.delete(name)) return;
      await trainer.dispose(known(name));
      adapters.delete(name);
    },
    close,
  };
};

export interface EngineOptions {
  /** A safetensors file of a Llama of this shape. */
  readonly weights: Uint8Array;
  readonly shape: ModelShape;
  readonly name: string;
}
