import { type Sampler, TrainingError } from '../../core/training.ts';
import type { TinkerEngine } from './tinker-engine.ts';
import type { TinkerModel } from './tinker-model.ts';

/** The checkpoint name under which a sampler's own model saves the weights it was loaded with. */
const OWN_NAME = 'own';

/**
 * For servers that sample a checkpoint by loading it over the model that saved it. There, sampling an older checkpoint undoes
 * later training, later steps change what the checkpoint's name stands for, and unloading the model removes its checkpoints.
 * Here each sampler has its own model, loaded from the state saved under the checkpoint's name; closing the sampler unloads
 * it.
 */
export function withIsolatedSamplers(engine: TinkerEngine): TinkerEngine {
  return {
    ...engine,
    createModel: async (options) => savingBoth(await engine.createModel(options)),
    openModel: async (path) => savingBoth(await engine.openModel(path)),
    openSampler: async (path): Promise<Sampler> => {
      if (path === undefined) return engine.openSampler(undefined);
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
    },
  };
}

/** Saves the state with every sampler checkpoint, of the same weights and under the same name: samplers need it later. */
function savingBoth(model: TinkerModel): TinkerModel {
  const saved = new Map<string, { readonly steps: number; readonly path: Promise<string> }>();
  let steps = 0;
  const saveState = (name: string): Promise<string> => {
    const path = model.saveState(name);
    saved.set(name, { steps, path });
    path.catch(() => saved.delete(name));
    return path;
  };
  return {
    ...model,
    get broken() {
      return model.broken;
    },
    optimStep: (adam, signal) => {
      steps++;
      return model.optimStep(adam, signal);
    },
    saveState,
    saveForSampler: async (name) => {
      const before = saved.get(name);
      if (before !== undefined && before.steps !== steps)
        throw new TrainingError('user', `${name} is a state from before the last step; take another name`);
      const state = before?.path ?? saveState(name);
      // Both are submitted before either is awaited, so that no step comes between them.
      const [path] = await Promise.all([model.saveForSampler(name), state]);
      return path;
    },
  };
}

/** Servers name a sampler's checkpoint with or without its kind. */
function stateOf(path: string): string {
  const parts = /^tinker:\/\/([^/]+)\/(?:sampler_weights\/)?([^/]+)$/.exec(path);
  if (parts === null) throw new TrainingError('user', `${path} is not the path of a sampler's checkpoint`);
  return `tinker://${parts[1]}/weights/${parts[2]}`;
}
