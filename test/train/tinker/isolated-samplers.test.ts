import { describe, expect, it } from 'vitest';
import { asString, type JsonObject } from '../../../src/core/json.ts';
import { PROFILES } from '../../../train/tinker/profiles.ts';
import type { TinkerEngine } from '../../../train/tinker/tinker-engine.ts';
import { withScripted } from './connect-scripted.ts';
import type { Script, Scripted } from './scripted-server.ts';

const signal = new AbortController().signal;
const adam = { learningRate: 1e-4 };
const request = { prompt: [1], count: 1, maxTokens: 1, temperature: 1, stop: [] };

/**
 * A server whose models are one number each, the count of their steps, and whose samples say that number. A checkpoint
 * is sampled in the place of the model that saved it, if that is there.
 */
function inPlace(): { readonly script: Script; readonly models: Map<string, number> } {
  const models = new Map<string, number>();
  const states = new Map<string, number>();
  const checkpoints = new Map<string, number>();
  const loaded = new Map<string, string>();
  let made = 0;
  const good = (body: JsonObject): Scripted => ({ status: 200, body });
  const bad = (detail: string): Scripted => ({ status: 400, body: { detail } });

  const sample = (path: string): Scripted => {
    const [, model = '', name = ''] = /^tinker:\/\/([^/]+)\/(.+)$/.exec(path) ?? [];
    if (!models.has(model)) return bad(`Model ${model} not loaded`);
    if (loaded.get(model) !== name) models.set(model, checkpoints.get(path) ?? Number.NaN);
    loaded.set(model, name);
    return good({ sequences: [{ stop_reason: 'length', tokens: [models.get(model) ?? -1], logprobs: [0] }] });
  };
  const answer = (route: string, body: JsonObject): Scripted | undefined => {
    const model = asString(body.model_id) ?? '';
    const steps = models.get(model) ?? Number.NaN;
    const name = asString(body.path) ?? '';
    switch (route) {
      case 'create_model':
        models.set(`m${made}`, 0);
        return good({ model_id: `m${made++}` });
      case 'unload_model':
        models.delete(model);
        return good({});
      case 'optim_step':
        models.set(model, steps + 1);
        return good({ metrics: {} });
      case 'save_weights':
        states.set(`tinker://${model}/weights/${name}`, steps);
        return good({ path: `tinker://${model}/weights/${name}` });
      case 'save_weights_for_sampler':
        checkpoints.set(`tinker://${model}/${name}`, steps);
        return good({ path: `tinker://${model}/${name}` });
      case 'load_weights':
        if (!states.has(name)) return bad(`Checkpoint not found: ${name}`);
        models.set(model, states.get(name) ?? Number.NaN);
        return good({});
      case 'asample':
        return sample(asString(body.sampling_session_id) ?? '');
      default:
        return undefined;
    }
  };
  return {
    models,
    script: {
      result: answer,
      fault: (route, _, body) =>
        route === 'create_sampling_session'
          ? { when: 'before', answer: good({ sampling_session_id: asString(body.model_path) ?? 'bare' }) }
          : undefined,
    },
  };
}

const profile = (samplesInPlace: boolean) => ({ ...PROFILES.generic, wire: 'json' as const, samplesInPlace });
const said = async (engine: TinkerEngine, path: string): Promise<number | undefined> => {
  const sampler = await engine.openSampler(path);
  const [sequence] = await sampler.sample(request, signal);
  await sampler.close();
  return sequence?.tokens[0];
};

describe('a server that samples a checkpoint by loading it over its model', () => {
  it('undoes steps without isolated samplers (so this server has the fault)', async () => {
    const { script, models } = inPlace();
    await withScripted(
      script,
      async ({ engine }) => {
        const model = await engine.createModel({ rank: 4 });
        const first = await model.saveForSampler('first');
        await model.optimStep(adam, signal).done;
        expect(await said(engine, first)).toBe(0);
        expect(models.get(model.id)).toBe(0);
      },
      { profile: profile(false) },
    );
  });

  it('samples what was saved, leaves the model in training alone, and outlives it', async () => {
    const { script, models } = inPlace();
    await withScripted(
      script,
      async ({ engine }) => {
        const model = await engine.createModel({ rank: 4 });
        const first = await model.saveForSampler('first');
        await model.optimStep(adam, signal).done;
        await model.saveState('second');
        const second = await model.saveForSampler('second');
        await model.optimStep(adam, signal).done;
        for (let round = 0; round < 2; round++) {
          expect(await said(engine, first)).toBe(0);
          expect(await said(engine, second)).toBe(1);
          expect(models.get(model.id)).toBe(2);
        }
        await model.close();
        expect(await said(engine, second)).toBe(1);
        // One stays for whoever opens it next.
        expect(models.size).toBe(1);
      },
      { profile: profile(true) },
    );
    // Every sampler gave its place back.
    expect(models.size).toBe(0);
  });

  it('samples current weights where they are trained, and older ones in one model for all that ask', async () => {
    const { script, models } = inPlace();
    await withScripted(
      script,
      async ({ engine, server }) => {
        const model = await engine.createModel({ rank: 4 });
        const first = await model.saveForSampler('first');
        const early = await engine.openSampler(first);
        expect((await early.sample(request, signal))[0]?.tokens).toEqual([0]);
        expect(models.size).toBe(1);
        await model.optimStep(adam, signal).done;
        const others = await Promise.all([engine.openSampler(first), engine.openSampler(first)]);
        for (const one of [early, ...others]) {
          expect((await one.sample(request, signal))[0]?.tokens).toEqual([0]);
          expect(models.get(model.id)).toBe(1);
        }
        expect(server.ofRoute('load_weights')).toHaveLength(1);
        expect(models.size).toBe(2);
        for (const one of [early, ...others]) await one.close();
      },
      { profile: profile(true) },
    );
  });

  it('makes no step while a sample may still be drawn, which would undo it', async () => {
    const { script, models } = inPlace();
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await withScripted(
      {
        ...script,
        fault: async (route, count, body) => {
          if (route === 'asample') await held;
          return script.fault?.(route, count, body);
        },
      },
      async ({ engine }) => {
        const model = await engine.createModel({ rank: 4 });
        const sampler = await engine.openSampler(await model.saveForSampler('first'));
        const leaving = new AbortController();
        const left = sampler.sample(request, leaving.signal);
        leaving.abort();
        await expect(left).rejects.toMatchObject({ name: 'TrainingError', message: 'asample: aborted' });
        expect(() => model.optimStep(adam, signal)).toThrow(/may still be drawn.*open the model again/);
        release();
        await expect
          .poll(() => {
            try {
              return model.optimStep(adam, signal).done;
            } catch {
              return 'refused';
            }
          })
          .toEqual({});
        expect(models.get(model.id)).toBe(1);
      },
      { profile: profile(true) },
    );
  });

  it('opens a checkpoint anew after the server has lost its model', async () => {
    const { script, models } = inPlace();
    await withScripted(
      script,
      async ({ engine }) => {
        const model = await engine.createModel({ rank: 4 });
        const first = await model.saveForSampler('first');
        await model.optimStep(adam, signal).done;
        const sampler = await engine.openSampler(first);
        models.clear();
        await expect(sampler.sample(request, signal)).rejects.toThrow(/not loaded/);
        expect(await said(engine, first)).toBe(0);
      },
      { profile: profile(true) },
    );
  });

  it('saves the state once under each name, and refuses a name whose state is older than the weights', async () => {
    const { script } = inPlace();
    await withScripted(
      script,
      async ({ engine, server }) => {
        const model = await engine.createModel({ rank: 4 });
        await model.saveState('a');
        await model.saveForSampler('a');
        expect(server.ofRoute('save_weights')).toHaveLength(1);
        await model.saveForSampler('b');
        expect(server.ofRoute('save_weights').map(({ body }) => body.path)).toEqual(['a', 'b']);
        await model.saveState('c');
        await model.optimStep(adam, signal).done;
        await expect(model.saveForSampler('c')).rejects.toMatchObject({
          category: 'user',
          message: expect.stringMatching(/before the last step/),
        });
      },
      { profile: profile(true) },
    );
  });

  it('names the state that a sampler needs when it is missing, and leaves no model behind', async () => {
    const { script, models } = inPlace();
    await withScripted(
      script,
      async ({ engine }) => {
        await expect(engine.openSampler('tinker://gone/sampler_weights/x')).rejects.toThrow(
          /tinker:\/\/gone\/sampler_weights\/x is sampled from the state .* not found: tinker:\/\/gone\/weights\/x/,
        );
        await expect(engine.openSampler('nowhere')).rejects.toThrow(/nowhere is not the path/);
        expect(models.size).toBe(0);
      },
      { profile: profile(true) },
    );
  });
});
