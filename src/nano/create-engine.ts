import { composeEngine, engineModel, type Remote } from './compose-engine.ts';
import { type Engine, EngineError } from './engine.ts';
import { loadWeights } from './model/load-weights.ts';
import { createSampler } from './sampling/sampler.ts';
import type { Shape } from './shape.ts';
import { createTrainer, type Trainer } from './training/trainer.ts';

export interface EngineOptions {
  /** A safetensors file of a Llama of this shape. */
  readonly weights: Uint8Array;
  readonly shape: Shape;
  readonly name: string;
}

/** The trainer's calls as promises, done at once. */
const atOnce = (trainer: Trainer, isClosed: () => boolean): Remote<Trainer> => {
  const later =
    <Operands extends readonly unknown[], Answer>(call: (...operands: Operands) => Answer) =>
    async (...operands: Operands): Promise<Answer> => {
      if (isClosed()) throw new EngineError('the engine is closed');
      return call(...operands);
    };
  return {
    create: later(trainer.create),
    forward: later(trainer.forward),
    forwardBackward: later(trainer.forwardBackward),
    optimStep: later(trainer.optimStep),
    copy: later(trainer.copy),
    save: later(trainer.save),
    load: later(trainer.load),
    dispose: later(trainer.dispose),
  };
};

/**
 * An engine in this thread, which it holds while it works: a training call to its end, a sample for one token at a time.
 * Throws an EngineError for weights that do not fit the shape.
 */
export const createEngine = ({ weights, shape, name }: EngineOptions): Engine => {
  const loaded = loadWeights(weights, shape);
  const sampler = createSampler(loaded);
  const closing = new AbortController();
  return composeEngine({
    model: engineModel(name, shape),
    trainer: atOnce(createTrainer(loaded), () => closing.signal.aborted),
    sampler: {
      sample: (named, request, signal) =>
        sampler.sample(named, request, AbortSignal.any([signal, closing.signal])),
    },
    async close() {
      closing.abort(new EngineError('the engine is closed'));
    },
  });
};
