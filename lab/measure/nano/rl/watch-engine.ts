import type { Sampler } from '../../../../src/core/training.ts';
import type { TinkerEngine } from '../../../../src/train/tinker/tinker-engine.ts';

type Model = Awaited<ReturnType<TinkerEngine['createModel']>>;

export interface Watched {
  readonly engine: TinkerEngine;
  /** Milliseconds in which at least one request was with the engine. What is left of the wall time is ours. */
  busyMs(): number;
}

/** Counts the time that requests take, from being sent to being answered; those side by side count once. */
export function watchEngine(engine: TinkerEngine): Watched {
  let outstanding = 0;
  let since = 0;
  let busy = 0;
  const during = async <T>(work: Promise<T>): Promise<T> => {
    if (outstanding++ === 0) since = performance.now();
    try {
      return await work;
    } finally {
      if (--outstanding === 0) busy += performance.now() - since;
    }
  };
  const watchModel = (model: Model): Model => ({
    ...model,
    forward: (input, signal) => during(model.forward(input, signal)),
    forwardBackward: (input, signal) => {
      const passed = model.forwardBackward(input, signal);
      return { ...passed, done: during(passed.done) };
    },
    optimStep: (adam, signal) => {
      const stepped = model.optimStep(adam, signal);
      return { ...stepped, done: during(stepped.done) };
    },
    saveState: (name) => during(model.saveState(name)),
    saveForSampler: (name) => during(model.saveForSampler(name)),
  });
  const watchSampler = (sampler: Sampler): Sampler => ({
    sample: (request, signal) => during(sampler.sample(request, signal)),
    close: () => sampler.close(),
  });
  return {
    busyMs: () => busy,
    engine: {
      ...engine,
      createModel: async (options) => watchModel(await during(engine.createModel(options))),
      openModel: async (path) => watchModel(await during(engine.openModel(path))),
      openSampler: async (path) => watchSampler(await during(engine.openSampler(path))),
    },
  };
}
