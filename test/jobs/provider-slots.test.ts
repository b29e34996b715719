import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { createMemoryLeases } from '../../src/jobs/memory-jobs.ts';
import { createProviderSlots } from '../../src/jobs/provider-slots.ts';

const never = new AbortController().signal;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe('the slots of a provider', () => {
  it('has at most as many calls of learning at a time as providers.NAME.concurrency says', async () => {
    const leases = createMemoryLeases(systemClock, 'here');
    const limitOf = (provider: string) => (provider === 'lab' ? 2 : undefined);
    const within = createProviderSlots({ leases, limitOf, waitMs: 5 });
    const count = async (provider: string): Promise<number> => {
      let [open, most] = [0, 0];
      await Promise.all(
        Array.from({ length: 8 }, () =>
          within(
            provider,
            async () => {
              most = Math.max(most, ++open);
              await pause(10);
              open--;
            },
            never,
          ),
        ),
      );
      return most;
    };
    expect([await count('lab'), await count('other')]).toEqual([2, 8]);
  });

  it('frees its slot when the call fails, and lets a caller that is aborted go', async () => {
    const within = createProviderSlots({
      leases: createMemoryLeases(systemClock, 'here'),
      limitOf: () => 1,
      waitMs: 5,
    });
    const failing = within('lab', () => Promise.reject(new Error('no')), never);
    await expect(failing).rejects.toThrow('no');
    let end: () => void = () => undefined;
    const long = within('lab', () => new Promise<void>((resolve) => (end = resolve)), never);
    await pause(20);
    const stop = new AbortController();
    const waiting = within('lab', async () => 'begun', stop.signal);
    stop.abort(new Error('stopped'));
    await expect(waiting).rejects.toThrow('stopped');
    end();
    await long;
    expect(await within('lab', async () => 'free', never)).toBe('free');
  });
});
