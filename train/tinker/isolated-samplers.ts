import { sleep } from '../../src/base/sleep.ts';
import { untilAborted } from '../../src/base/until-aborted.ts';
import {
  type SampledSequence,
  type Sampler,
  type SamplerRequest,
  TrainingError,
} from '../../src/core/training.ts';
import type { TinkerEngine } from './tinker-engine.ts';
import type { TinkerModel } from './tinker-model.ts';

/** The checkpoint name under which a sampler's own model saves the weights it was loaded with. */
const OWN_NAME = 'own';
/** How long closing waits for models to be unloaded; the server unloads the others with the session. */
const UNLOAD_MS = 5_000;
const NEVER = new AbortController().signal;

/**
 * For servers that sample a checkpoint by loading it over the model that saved it. There, sampling an older checkpoint undoes
 * later training, later steps change what the checkpoint's name stands for, and unloading the model removes its checkpoints.
 *
 * Here a checkpoint is sampled in the place of the model in training only as long as that model has exactly these weights:
 * they then go to the sampler once per step. At any other time it has a model of its own, loaded from the state saved under
 * the checkpoint's name, which all samplers of the checkpoint share.
 */
export function withIsolatedSamplers(engine: TinkerEngine): TinkerEngine {
  const places = new Map<string, SamplingPlace>();
  const isolated = shareSamplers((path) => openIsolated(engine, path));
  const inTraining = (model: TinkerModel): TinkerModel => {
    const open = (path: string): Promise<Sampler> => engine.openSampler(path);
    return followModel(model, open, (path, place) => {
      for (const [other, { isCurrent }] of places) if (!isCurrent()) places.delete(other);
      places.set(path, place);
    });
  };

  return {
    ...engine,
    createModel: async (options) => inTraining(await engine.createModel(options)),
    openModel: async (path) => inTraining(await engine.openModel(path)),
    openSampler: async (path) => {
      if (path === undefined) return engine.openSampler(undefined);
      const place = places.get(path);
      if (place?.isCurrent() !== true) return isolated.open(path);
      let moved: Promise<Sampler> | undefined;
      return {
        sample: async (request, signal) => {
          const drawn =
            moved === undefined && place.isCurrent() ? await place.sample(request, signal) : undefined;
          if (drawn !== undefined) return drawn;
          moved ??= isolated.open(path);
          moved.catch(() => {
            moved = undefined;
          });
          return (await moved).sample(request, signal);
        },
        close: async () => {
          const left = moved;
          moved = undefined;
          await left?.then((sampler) => sampler.close());
        },
      };
    },
    close: async () => {
      const unloaded = new AbortController();
      await Promise.race([isolated.close(), sleep(UNLOAD_MS, unloaded.signal)]);
      unloaded.abort();
      await engine.close();
    },
  };
}

/** Where a checkpoint can be sampled without loading it anew: in the model that saved it. */
interface SamplingPlace {
  /** The model still has the weights of the checkpoint. */
  isCurrent(): boolean;
  /** Undefined when the server could not: then the place is not current any more. */
  sample(request: SamplerRequest, signal: AbortSignal): Promise<readonly SampledSequence[] | undefined>;
}

/**
 * A model whose sampler checkpoints are also saved as states, of the same weights and under the same name: samplers need them
 * later. `saved` is called with each checkpoint and the place where it can be sampled for now.
 */
function followModel(
  model: TinkerModel,
  openSampler: (path: string) => Promise<Sampler>,
  saved: (path: string, place: SamplingPlace) => void,
): TinkerModel {
  const states = new Map<string, { readonly steps: number; readonly path: Promise<string> }>();
  let steps = 0;
  let isClosed = false;
  /** Samples that the server may not have drawn yet. */
  let drawing = 0;

  const saveState = (name: string): Promise<string> => {
    const path = model.saveState(name);
    states.set(name, { steps, path });
    path.catch(() => states.delete(name));
    return path;
  };
  const placeAt = (path: string, savedAt: number): SamplingPlace => {
    let session: Promise<Sampler> | undefined;
    let hasFailed = false;
    const draw = async (request: SamplerRequest): Promise<readonly SampledSequence[]> => {
      session ??= openSampler(path);
      // Without the caller's signal: it is known when the server is done, also after the caller has left.
      return (await session).sample(request, NEVER);
    };
    return {
      isCurrent: () => !isClosed && !hasFailed && model.broken === undefined && steps === savedAt,
      sample: async (request, signal) => {
        drawing++;
        const drawn = draw(request).then(
          (sequences) => {
            drawing--;
            return sequences;
          },
          (error: unknown) => {
            // It stays counted: whether the server still draws it is not known.
            if (!(error instanceof TrainingError)) throw error;
            hasFailed = true;
            return undefined;
          },
        );
        return untilAborted(drawn, signal).catch((error: unknown) => {
          throw signal.aborted ? new TrainingError('unknown', 'asample: aborted') : error;
        });
      },
    };
  };
  /** A sample that is drawn after a step would load the checkpoint over it. */
  const refuseWhileDrawing = (): void => {
    if (drawing === 0) return;
    const why = `${drawing} samples of ${model.id} may still be drawn, and would undo a step`;
    throw new TrainingError('server', `${why}; open the model again from its last state`);
  };

  return {
    ...model,
    get broken() {
      return model.broken;
    },
    forwardBackward: (input, signal) => {
      refuseWhileDrawing();
      return model.forwardBackward(input, signal);
    },
    optimStep: (adam, signal) => {
      refuseWhileDrawing();
      steps++;
      return model.optimStep(adam, signal);
    },
    saveState,
    saveForSampler: async (name) => {
      const before = states.get(name);
      if (before !== undefined && before.steps !== steps)
        throw new TrainingError('user', `${name} is a state from before the last step; take another name`);
      const savedAt = steps;
      const state = before?.path ?? saveState(name);
      // Both are submitted before either is awaited, so that no step comes between them.
      const [path] = await Promise.all([model.saveForSampler(name), state]);
      saved(path, placeAt(path, savedAt));
      return path;
    },
    close: () => {
      isClosed = true;
      return model.close();
    },
  };
}

/** A sampler with a model of its own; closing it unloads the model. */
async function openIsolated(engine: TinkerEngine, path: string): Promise<Sampler> {
  const model = await engine.openModel(stateOf(path)).catch((error: unknown) => {
    if (!(error instanceof TrainingError)) throw error;
    const detail = `${path} is sampled from the state that was saved under its name: ${error.message}`;
    throw new TrainingError(error.category, detail);
  });
  try {
    const sampler = await engine.openSampler(await model.saveForSampler(OWN_NAME));
    const close = async (): Promise<void> => {
      await sampler.close();
      await model.close();
    };
    return { sample: sampler.sample, close };
  } catch (error) {
    await model.close();
    throw error;
  }
}

/** Servers name a sampler's checkpoint with or without its kind. */
function stateOf(path: string): string {
  const parts = /^tinker:\/\/([^/]+)\/(?:sampler_weights\/)?([^/]+)$/.exec(path);
  if (parts === null) throw new TrainingError('user', `${path} is not the path of a sampler's checkpoint`);
  return `tinker://${parts[1]}/weights/${parts[2]}`;
}

/** Samplers by checkpoint: one on the server, however often it is opened. */
interface SharedSamplers {
  /** Rejects as opening it does. */
  open(path: string): Promise<Sampler>;
  /** Closes all, also those in use. */
  close(): Promise<void>;
}

interface SharedSampler {
  readonly opened: Promise<Sampler>;
  users: number;
}

/** Kept on the server after its last user has closed it: the next step may open the same checkpoint again. */
const MOST_IDLE = 1;

/**
 * Counts the users of each sampler. One that failed to sample is not given to new users, because the server may have lost it;
 * its users keep it until they close it.
 */
function shareSamplers(openSampler: (path: string) => Promise<Sampler>): SharedSamplers {
  const shared = new Map<string, SharedSampler>();
  let isOver = false;

  const end = async ({ opened }: SharedSampler): Promise<void> => {
    await (await opened).close();
  };
  const endIdle = async (): Promise<void> => {
    const idle = [...shared].filter(([, { users }]) => users === 0);
    const ended = idle.slice(0, Math.max(0, idle.length - MOST_IDLE));
    for (const [path] of ended) shared.delete(path);
    await Promise.all(ended.map(([, one]) => end(one)));
  };
  const forget = (path: string, one: SharedSampler): void => {
    if (shared.get(path) === one) shared.delete(path);
  };

  return {
    close: async () => {
      isOver = true;
      const all = [...shared.values()];
      shared.clear();
      await Promise.allSettled(all.map(end));
    },
    open: async (path) => {
      const one = shared.get(path) ?? { opened: openSampler(path), users: 0 };
      // Most recently used last.
      shared.delete(path);
      shared.set(path, one);
      one.users++;
      const sampler = await one.opened.catch((error: unknown) => {
        forget(path, one);
        throw error;
      });
      let isClosed = false;
      return {
        sample: async (request, signal) => {
          try {
            return await sampler.sample(request, signal);
          } catch (error) {
            if (error instanceof TrainingError && !signal.aborted) forget(path, one);
            throw error;
          }
        },
        close: async () => {
          if (isClosed) return;
          isClosed = true;
          one.users--;
          if (shared.get(path) === one) await endIdle();
          else if (one.users === 0 && !isOver) await end(one);
        },
      };
    },
  };
}
