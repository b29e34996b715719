import { describe, expect, it } from 'vitest';
import { asNumber } from '../../../src/core/json.ts';
import { PROFILES } from '../../../train/tinker/profiles.ts';
import { withScripted } from './connect-scripted.ts';
import type { ScriptedServer } from './scripted-server.ts';

const signal = new AbortController().signal;
const profile = { ...PROFILES.skyrl, samplesInPlace: false };
const ask = (count: number, prompt = [1]) => ({ prompt, count, maxTokens: 2, temperature: 1, stop: [] });
const countsAt = (server: ScriptedServer): readonly (number | undefined)[] =>
  server.ofRoute('asample').map(({ body }) => asNumber(body.num_samples));

describe('samples of a server that compiles for each number of sequences', () => {
  it('are requested together in multiples of 8, and each caller gets what it asked for', async () => {
    await withScripted(
      {},
      async ({ engine, server }) => {
        const samplers = await Promise.all([
          engine.openSampler(undefined),
          engine.openSampler('tinker://m/a'),
        ]);
        const drawn = await Promise.all(
          [5, 3, 3].map((count, at) => samplers[at % 2]?.sample(ask(count, [at + 1]), signal)),
        );
        expect(drawn.map((sequences) => sequences?.length)).toEqual([5, 3, 3]);
        const total = countsAt(server).reduce<number>((sum, count) => sum + (count ?? 0), 0);
        expect([server.ofRoute('asample').length, total]).toEqual([3, 16]);
      },
      { profile },
    );
  });

  it('wait for the wave that is out and then go together, but one sample alone is not multiplied', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await withScripted(
      {
        fault: async (route, count) => {
          if (route === 'asample' && count === 0) await held;
          return undefined;
        },
      },
      async ({ engine, server }) => {
        const sampler = await engine.openSampler(undefined);
        const first = sampler.sample(ask(1), signal);
        await expect.poll(() => server.ofRoute('asample').length).toBe(1);
        const leaving = new AbortController();
        const later = [2, 2, 2].map((count) => sampler.sample(ask(count), signal));
        const left = sampler.sample(ask(7), leaving.signal);
        leaving.abort();
        await expect(left).rejects.toThrow('asample: aborted');
        expect(countsAt(server)).toEqual([1]);
        release();
        expect(await first).toHaveLength(1);
        expect((await Promise.all(later)).map(({ length }) => length)).toEqual([2, 2, 2]);
        expect([...countsAt(server)].sort()).toEqual([1, 2, 2, 4]);
      },
      { profile },
    );
  });

  it('that fail do not hold up the others of their wave or the next', async () => {
    await withScripted(
      {
        result: (route, body) =>
          route === 'asample' && asNumber(body.num_samples) === 3
            ? { status: 400, body: { detail: 'too many' } }
            : undefined,
      },
      async ({ engine }) => {
        const sampler = await engine.openSampler(undefined);
        const both = await Promise.allSettled([3, 5].map((count) => sampler.sample(ask(count), signal)));
        expect(both.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
        expect(await sampler.sample(ask(8), signal)).toHaveLength(8);
      },
      { profile },
    );
  });
});
