import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRandom } from '../../../src/base/random.ts';
import { systemClock } from '../../../src/core/clock.ts';
import type { TrainDatum } from '../../../src/core/training.ts';
import { startTinkerServer, type TinkerServer } from '../../../train/nano/server/start-tinker-server.ts';
import { connectTinker } from '../../../train/tinker/connect-tinker.ts';
import { PROFILES } from '../../../train/tinker/profiles.ts';
import type { TinkerEngine } from '../../../train/tinker/tinker-engine.ts';
import { createBigramEngine } from '../nano/server/bigram-engine.ts';

const signal = new AbortController().signal;
let folder: string;
let server: TinkerServer;
const open: TinkerEngine[] = [];

let starts = 0;

async function start(port: number): Promise<void> {
  const bigram = createBigramEngine();
  // Its own metric is a constant; without one, the client looks at what a step moved.
  const engine = {
    ...bigram,
    optimStep: async (...given: Parameters<typeof bigram.optimStep>) => {
      await bigram.optimStep(...given);
      return {};
    },
  };
  server = await startTinkerServer({ engine, folder, port, key: 'tml-test', limits: { pollMs: 200 } });
  starts++;
}

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'instar-client-'));
  starts = 0;
  await start(0);
});

afterEach(async () => {
  for (const engine of open.splice(0)) await engine.close();
  await server.close();
  await rm(folder, { recursive: true });
});

async function connect(wire: 'json' | 'protobuf' | undefined): Promise<TinkerEngine> {
  const engine = await connectTinker({
    url: server.url,
    key: 'tml-test',
    baseModel: 'bigram-16',
    profile: { ...PROFILES.nano, wire },
    losses: ['cross_entropy', 'importance_sampling', 'ppo', 'cispo'],
    fetch,
    clock: systemClock,
    random: createRandom(`client/${wire}`),
    pace: { backoffMs: 5, longestMs: 50 },
  });
  open.push(engine);
  return engine;
}

const datum: TrainDatum = {
  tokens: [1, 2, 3, 4],
  targets: [2, 3, 4, 5],
  weights: [0, 1, 1, 1],
  advantages: [0, 1, 0.5, -1],
  logprobs: [0, -2.7, -2.8, -2.9],
};

describe('the client against the embedded server', () => {
  it('passes its self-test with all four losses and detects the wire format', async () => {
    const engine = await connect(undefined);
    expect(engine.profile).toMatchObject({ wire: 'json', contextLength: 64, baseModel: 'bigram-16' });
    expect(engine.selfTest?.tokens).toBeGreaterThan(10);
    expect(engine.selfTest?.maxDifference).toBeLessThan(1e-5);
    expect(Object.keys(engine.selfTest?.losses ?? {})).toHaveLength(4);
  });

  it('trains to the same numbers over both wire formats, and continues from a saved state exactly', async () => {
    const results: number[][] = [];
    for (const wire of ['json', 'protobuf'] as const) {
      const engine = await connect(wire);
      const model = await engine.createModel({ rank: 4, seed: 1 });
      for (let step = 0; step < 5; step++) {
        const given = model.forwardBackward({ data: [datum, datum], loss: 'importance_sampling' }, signal);
        const moved = model.optimStep({ learningRate: 0.05 }, signal);
        expect((await given.done).logprobs).toHaveLength(2);
        await moved.done;
      }
      const state = await model.saveState(`state-${wire}`);
      const again = await engine.openModel(state);
      for (const one of [model, again]) {
        void one.forwardBackward(
          { data: [datum], loss: 'ppo', config: { clip_high_threshold: 1.3 } },
          signal,
        );
        await one.optimStep({ learningRate: 0.05 }, signal).done;
        const { logprobs } = await one.forward({ data: [datum], loss: 'cross_entropy' }, signal);
        results.push([...(logprobs[0] ?? [])]);
      }
      const sampler = await engine.openSampler(await model.saveForSampler(`sampler-${wire}`));
      const request = { prompt: [1, 2], count: 3, maxTokens: 8, temperature: 1, stop: [0], seed: 7 };
      const [one] = await sampler.sample(request, signal);
      expect(await sampler.sample(request, signal)).toHaveLength(3);
      const full = [1, 2, ...(one?.tokens ?? [])];
      const scored = await model.forward(
        {
          data: [{ tokens: full.slice(0, -1), targets: full.slice(1), weights: full.slice(1).map(() => 1) }],
          loss: 'cross_entropy',
        },
        signal,
      );
      scored.logprobs[0]?.slice(1).forEach((p, i) => {
        expect(p).toBeCloseTo(one?.logprobs[i] ?? Number.NaN, 5);
      });
      await again.close();
      await model.close();
    }
    expect(results).toHaveLength(4);
    for (const row of results.slice(1)) {
      row.forEach((p, i) => {
        expect(p).toBeCloseTo(results[0]?.[i] ?? Number.NaN, 5);
      });
    }
    // It learned: the second target had an advantage, the last one had its opposite.
    const [, first = 0, , last = 0] = results[0] ?? [];
    expect(first).toBeGreaterThan(last);
  });

  it('trains to the same numbers when the server restarts during training', async () => {
    const scores: number[][] = [];
    for (const goesAway of [false, true]) {
      const engine = await connect('protobuf');
      const model = await engine.createModel({ rank: 4, seed: 1 });
      for (let step = 0; step < 6; step++) {
        const { port } = server;
        const away = goesAway && step % 2 === 1 ? server.close() : Promise.resolve();
        const given = model.forwardBackward({ data: [datum, datum], loss: 'importance_sampling' }, signal);
        const moved = model.optimStep({ learningRate: 0.05 }, signal);
        await away;
        if (goesAway && step % 2 === 1) await start(port);
        expect((await given.fate).kind).toBe('done');
        expect((await moved.fate).kind).toBe('done');
      }
      const { logprobs } = await model.forward({ data: [datum], loss: 'cross_entropy' }, signal);
      scores.push([...(logprobs[0] ?? [])]);
    }
    expect(scores[1]).toEqual(scores[0]);
    expect(starts).toBe(1 + 3);
  });

  it('reports a refused key as the caller’s fault and keeps nothing open', async () => {
    const refused = connectTinker({
      url: server.url,
      key: 'tml-wrong',
      baseModel: 'bigram-16',
      profile: 'nano',
      fetch,
      clock: systemClock,
      random: createRandom('refused'),
    });
    await expect(refused).rejects.toMatchObject({ name: 'TrainingError', category: 'user' });
  });
});
