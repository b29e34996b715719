import {
  type AsyncCalls,
  composeEngine,
  type EngineOptions,
  engineModel,
} from '../../train/nano/compose-engine.ts';
import { type Engine, EngineError } from '../../train/nano/engine.ts';
import { loadDecoderWeights } from '../../train/nano/model/decoder-weights.ts';
import { createEngineSampler } from '../../train/nano/sampling/sampler.ts';
import { createTrainer, type Trainer } from '../../train/nano/training/trainer.ts';

/** The trainer's calls as promises. */
const toAsync = (trainer: Trainer, isClosed: () => boolean): AsyncCalls<Trainer> => {
  const wrap =
    <Operands extends readonly unknown[], Answer>(call: (...operands: Operands) => Answer) =>
    async (...operands: Operands): Promise<Answer> => {
      if (isClosed()) throw new EngineError('the engine is closed');
      return call(...operands);
    };
  return {
    create: wrap(trainer.create),
    forward: wrap(trainer.forward),
    forwardBackward: wrap(trainer.forwardBackward),
    optimStep: wrap(trainer.optimStep),
    copy: wrap(trainer.copy),
    save: wrap(trainer.save),
    load: wrap(trainer.load),
    dispose: wrap(trainer.dispose),
  };
};

/**
 * An engine in this thread. It blocks the thread for a whole training call, and for one token at a time when it samples.
 * Throws an EngineError for weights that do not fit the shape.
 */
export const createEngine = ({ weights, shape, name }: EngineOptions): Engine => {
  const loaded = loadDecoderWeights(weights, shape);
  const sampler = createEngineSampler(loaded);
  const closing = new AbortController();
  return composeEngine({
    model: engineModel(name, shape),
    trainer: toAsync(createTrainer(loaded), () => closing.signal.aborted),
    sampler: {
      sample: (named, request, signal) =>
        sampler.sample(named, request, AbortSignal.any([signal, closing.signal])),
    },
    async close() {
      closing.abort(new EngineError('the engine is closed'));
    },
  });
};
