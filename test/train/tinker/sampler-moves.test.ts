import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createRandom } from '../../../src/base/random.ts';
import { systemClock } from '../../../src/core/clock.ts';
import type { Sampler } from '../../../src/core/training.ts';
import { startTinkerServer } from '../../../train/nano/server/start-tinker-server.ts';
import { createMemoryJournal } from '../../../train/run-journal.ts';
import { connectTinker } from '../../../train/tinker/connect-tinker.ts';
import { PROFILES } from '../../../train/tinker/profiles.ts';
import type { TinkerEngine } from '../../../train/tinker/tinker-engine.ts';
import { train } from '../../../train/trainer.ts';
import { echoTasks, rollOutEcho } from '../echo-tasks.ts';
import { createBigramEngine } from '../nano/server/bigram-engine.ts';

const STEPS = 5;
const signal = new AbortController().signal;

/** A client of the embedded server that treats it as one that samples in place, and the requests it sent by route. */
async function connectInPlace(): Promise<{
  readonly engine: TinkerEngine;
  readonly sent: Map<string, number>;
}> {
  const folder = await mkdtemp(path.join(tmpdir(), 'instar-moves-'));
  const server = await startTinkerServer({ engine: createBigramEngine(), folder, port: 0, key: 'tml-test' });
  const sent = new Map<string, number>();
  const counting: typeof fetch = (to, init) => {
    const route = new URL(String(to)).pathname.replace('/api/v1/', '');
    sent.set(route, (sent.get(route) ?? 0) + 1);
    return fetch(to, init);
  };
  const engine = await connectTinker({
    url: server.url,
    key: 'tml-test',
    baseModel: 'bigram-16',
    profile: { ...PROFILES.nano, samplesInPlace: true },
    selfTest: false,
    fetch: counting,
    clock: systemClock,
    random: createRandom('moves'),
  });
  onTestFinished(async () => {
    await engine.close();
    await server.close();
    await rm(folder, { recursive: true });
  });
  sent.clear();
  return { engine, sent };
}

/** Samplers stay open while they are used, as in `createPolicyRollouts`. */
function keepingOpen(engine: TinkerEngine): TinkerEngine {
  const open = new Map<string | undefined, Promise<Sampler>>();
  return {
    ...engine,
    openSampler: (of) => {
      const sampler = open.get(of) ?? engine.openSampler(of);
      open.set(of, sampler);
      return sampler;
    },
  };
}

describe('a run on a server that samples in place', () => {
  it('brings weights to the sampler once per step', async () => {
    const { engine, sent } = await connectInPlace();
    const rollouts = rollOutEcho(keepingOpen(engine), () => 0);
    const ends: string[] = [];
    for await (const { type } of train({
      engine,
      run: 'run',
      tasks: echoTasks,
      rollouts,
      steps: STEPS,
      batch: { groups: 3, size: 24 },
      generation: async () => 0,
      journal: createMemoryJournal(),
      signal,
      rank: 2,
      settings: { length: { tokens: 2 }, kl: { warn: 1, refuse: 1, drift: 1 } },
    }))
      ends.push(type);
    expect(ends.filter((type) => type === 'step-trained')).toHaveLength(STEPS);
    // A checkpoint at the start and one per step, which is sampled where it was saved.
    expect(sent.get('save_weights_for_sampler')).toBe(1 + STEPS);
    expect(sent.get('load_weights') ?? 0).toBe(0);
    expect(sent.get('create_sampling_session')).toBe(STEPS);
  });
});
