import { describe, expect, it } from 'vitest';
import { createKeptAnswer } from '../../../src/api/page/kept-answer.ts';

/** An answer that is made when the test says so. */
function keep(options: { readonly isAwaited?: true; readonly mostShare?: number } = {}) {
  let at = 0;
  let begun = 0;
  const made: ((value: string) => void)[] = [];
  const answer = createKeptAnswer<string>({
    make: () => {
      begun++;
      return new Promise((resolve) => made.push(resolve));
    },
    freshMs: 1000,
    monotonic: () => at,
    ...options,
  });
  return {
    ...answer,
    begun: () => begun,
    pass: (ms: number) => {
      at += ms;
    },
    make: async (value: string) => {
      made.shift()?.(value);
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

describe('a kept answer', () => {
  it('is shown at once while the next is being made, and says so', async () => {
    const answer = keep();
    const first = answer.newest();
    await answer.make('a');
    expect(await first).toEqual({ value: 'a', isNew: true });
    answer.pass(1000);
    const [waited, others] = [answer.newest(), [answer.newest(), answer.newest()]];
    // Only the one who began it waits a moment.
    expect(await Promise.all(others)).toEqual(Array(2).fill({ value: 'a', isNew: false }));
    expect(await waited).toEqual({ value: 'a', isNew: false });
    await answer.make('b');
    expect(await answer.newest()).toEqual({ value: 'b', isNew: true });
    expect(answer.begun()).toBe(2);
  });

  it('that was forgotten is shown to nobody, also when it was being made then', async () => {
    const answer = keep({ isAwaited: true });
    const first = answer.newest();
    await answer.make('before the change');
    await first;
    answer.pass(1000);
    void answer.newest();
    answer.forget();
    const after = answer.newest();
    await answer.make('begun before the change');
    await answer.make('after the change');
    expect(await after).toEqual({ value: 'after the change', isNew: true });
    expect((await answer.newest()).value).toBe('after the change');
  });

  it('that expired while it was being made is old', async () => {
    const answer = keep();
    const first = answer.newest();
    answer.expire();
    await answer.make('a');
    expect(await first).toEqual({ value: 'a', isNew: false });
  });

  it('that takes long is made less often', async () => {
    const answer = keep({ isAwaited: true, mostShare: 0.1 });
    const first = answer.newest();
    answer.pass(500);
    await answer.make('a');
    await first;
    answer.pass(4499);
    expect((await answer.newest()).isNew).toBe(true);
    answer.pass(1);
    const next = answer.newest();
    expect(answer.begun()).toBe(2);
    await answer.make('b');
    expect((await next).value).toBe('b');
  });
});
