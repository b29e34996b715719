import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/core/json.ts';
import { FAST, withScripted } from './connect-scripted.ts';

const signal = new AbortController().signal;
const request = { prompt: [1, 2], count: 2, maxTokens: 4, temperature: 1, stop: [] };

describe('a sampler over the wire', () => {
  it('numbers its requests from 0 and asks for the whole distribution', async () => {
    await withScripted({}, async ({ engine, server }) => {
      const sampler = await engine.openSampler('tinker://run/sampler_weights/a');
      for (let i = 0; i < 3; i++)
        expect(await sampler.sample({ ...request, seed: i }, signal)).toHaveLength(2);
      expect(server.ofRoute('asample').map(({ body }) => body.seq_id)).toEqual([0, 1, 2]);
      expect(server.ofRoute('asample')[0]?.body.sampling_params).toEqual({
        max_tokens: 4,
        temperature: 1,
        top_k: -1,
        top_p: 1,
        seed: 0,
      });
      expect(server.ofRoute('asample')[0]?.headers['x-tinker-sampling-backpressure']).toBe('1');
      expect(server.ofRoute('create_sampling_session')[0]?.body).toMatchObject({
        model_path: 'tinker://run/sampler_weights/a',
      });
    });
  });

  it('pauses all sampling after a 429, and loses no request', async () => {
    await withScripted(
      {
        fault: (route, count) =>
          route === 'asample' && count % 3 === 0 ? { when: 'before', answer: { status: 429 } } : undefined,
      },
      async ({ engine, server }) => {
        const sampler = await engine.openSampler(undefined);
        const all = await Promise.all(Array.from({ length: 40 }, () => sampler.sample(request, signal)));
        expect(all).toHaveLength(40);
        expect(server.effects.filter((effect) => effect.startsWith('asample'))).toHaveLength(40);
        expect(new Set(server.effects).size).toBe(40);
        expect(server.ofRoute('asample').length).toBeGreaterThan(55);
      },
    );
  });

  it('requests an expired sample again under another number', async () => {
    await withScripted(
      {
        fault: (route, count) =>
          route === 'retrieve_future' && count === 0
            ? { when: 'before', answer: { status: 410 } }
            : undefined,
      },
      async ({ engine, server }) => {
        const sampler = await engine.openSampler(undefined);
        expect(await sampler.sample(request, signal)).toHaveLength(2);
        expect(server.effects).toEqual(['asample/0', 'asample/1']);
      },
    );
  });

  it('stops waiting at once', async () => {
    await withScripted(
      { fault: (route) => (route === 'retrieve_future' ? { when: 'before', answer: 'hang' } : undefined) },
      async ({ engine, server }) => {
        const sampler = await engine.openSampler(undefined);
        const patience = new AbortController();
        const sampling = sampler.sample(request, patience.signal);
        await expect.poll(() => server.ofRoute('retrieve_future').length, { timeout: 100_000 }).toBe(1);
        patience.abort();
        await expect(sampling).rejects.toMatchObject({ name: 'TrainingError' });
      },
      { pace: { ...FAST, pollMs: 20_000 } },
    );
  });

  it('refuses samples without usable log-probabilities', async () => {
    const sequence = { stop_reason: 'stop', tokens: [3, 4], logprobs: [-1, -2] };
    const wrong: readonly [Json, RegExp][] = [
      [[sequence], /returned 1 samples instead of 2/],
      [[sequence, { ...sequence, logprobs: null }], /without log-probabilities/],
      [[sequence, { ...sequence, logprobs: [-1] }], /2 tokens and 1 log-probabilities/],
      [[sequence, { ...sequence, tokens: ['a', 'b'] }], /not ids/],
      ['none', /no sequences/],
    ];
    for (const [sequences, message] of wrong) {
      await withScripted(
        { result: (route) => (route === 'asample' ? { status: 200, body: { sequences } } : undefined) },
        async ({ engine }) => {
          const sampler = await engine.openSampler(undefined);
          await expect(sampler.sample(request, signal)).rejects.toMatchObject({
            category: 'server',
            message: expect.stringMatching(message),
          });
        },
      );
    }
    expect(wrong).toHaveLength(5);
  });
});
