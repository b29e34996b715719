import { setMaxListeners } from 'node:events';
import { setImmediate as nextTick } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Sampler, SamplerRequest } from '../../src/core/training.ts';
import { TrainingError } from '../../src/core/training.ts';
import { sharePrompts } from '../../train/policy-rollouts.ts';
import { createServer, createTabularEngine } from './tabular-engine.ts';

const never = new AbortController().signal;
setMaxListeners(0, never);
const ask = (more: Partial<SamplerRequest> = {}): SamplerRequest => ({
  prompt: [1, 2],
  count: 1,
  maxTokens: 4,
  temperature: 1,
  stop: [],
  ...more,
});

/** A real sampler of tables that counts what it is asked, and waits while it is held. */
async function openSampler() {
  const sampler = await createTabularEngine(createServer({ vocabulary: 5 })).openSampler(undefined);
  const asked: SamplerRequest[] = [];
  const signals: AbortSignal[] = [];
  let gate: Promise<void> | undefined;
  let open = (): void => undefined;
  const watched: Sampler = {
    ...sampler,
    sample: async (request, signal) => {
      asked.push(request);
      signals.push(signal);
      await gate;
      return sampler.sample(request, signal);
    },
  };
  return {
    shared: sharePrompts(watched),
    asked,
    signals,
    hold: () => {
      gate = new Promise((resolve) => {
        open = resolve;
      });
    },
    letGo: () => open(),
  };
}

describe('requests of one tick', () => {
  it('are sent as one when they differ only in their seed, and each gets its own samples', async () => {
    const { shared, asked } = await openSampler();
    const replies = await Promise.all(
      [3, 4, 5].map((seed, at) => shared.sample(ask({ seed, count: at + 1 }), never)),
    );
    expect(asked).toEqual([ask({ seed: 3, count: 6 })]);
    expect(replies.map((one) => one.length)).toEqual([1, 2, 3]);
    expect(new Set(replies.flat().map(({ tokens }) => tokens.join())).size).toBeGreaterThan(3);
  });

  it('are sent as one per distinct prompt, whatever their number and order', async () => {
    let shared = 0;
    const one = fc.record({
      prompt: fc.array(fc.nat({ max: 2 }), { minLength: 1, maxLength: 2 }),
      maxTokens: fc.integer({ min: 1, max: 2 }),
      count: fc.integer({ min: 1, max: 3 }),
      seed: fc.nat({ max: 9 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(one, { minLength: 1, maxLength: 12 }), async (requests) => {
        const sampler = await openSampler();
        const replies = await Promise.all(requests.map((each) => sampler.shared.sample(ask(each), never)));
        const kinds = new Set(requests.map(({ prompt, maxTokens }) => JSON.stringify([prompt, maxTokens])));
        expect(sampler.asked).toHaveLength(kinds.size);
        if (kinds.size < requests.length) shared++;
        replies.forEach((reply, at) => {
          expect(reply).toHaveLength(requests[at]?.count ?? 0);
          for (const { tokens } of reply) expect(tokens).toHaveLength(requests[at]?.maxTokens ?? 0);
        });
      }),
    );
    expect(shared).toBeGreaterThan(20);
  });

  it('are not merged with those of a later tick', async () => {
    const { shared, asked } = await openSampler();
    await shared.sample(ask(), never);
    await shared.sample(ask(), never);
    expect(asked).toHaveLength(2);
  });

  it('continue while one of them waits, and stop when all are aborted', async () => {
    const { shared, signals, hold, letGo } = await openSampler();
    const leaving = [new AbortController(), new AbortController(), new AbortController()];
    hold();
    const replies = leaving.map(({ signal }) => shared.sample(ask(), signal));
    await nextTick();
    await nextTick();
    leaving[0]?.abort();
    leaving[1]?.abort();
    expect(signals[0]?.aborted).toBe(false);
    leaving[2]?.abort();
    expect(signals[0]?.aborted).toBe(true);
    letGo();
    await Promise.allSettled(replies);
    expect(signals).toHaveLength(1);
  });

  it('are not sampled for requests aborted within the tick', async () => {
    const { shared, signals } = await openSampler();
    const gone = new AbortController();
    const reply = shared.sample(ask(), gone.signal);
    gone.abort();
    await Promise.allSettled([reply]);
    expect(signals.every(({ aborted }) => aborted)).toBe(true);
  });

  it('fail together, each with the reason', async () => {
    const failing = sharePrompts({
      sample: async () => {
        throw new TrainingError('server', 'no room');
      },
      close: async () => undefined,
    });
    const ends = await Promise.allSettled([failing.sample(ask(), never), failing.sample(ask(), never)]);
    expect(ends.map((end) => (end.status === 'rejected' ? String(end.reason) : ''))).toEqual([
      'TrainingError: no room',
      'TrainingError: no room',
    ]);
  });
});
