import { describe, expect, it } from 'vitest';
import { sleep } from '../../src/base/sleep.ts';
import { undefinedIfAborted, untilAborted } from '../../src/base/until-aborted.ts';

const never = new AbortController().signal;
const hanging = (): Promise<never> => new Promise(() => undefined);

describe('sleep', () => {
  it('resolves at once when the signal has aborted or aborts (after an hour otherwise)', async () => {
    const controller = new AbortController();
    const sleeping = sleep(3_600_000, controller.signal);
    controller.abort();
    await sleeping;
    await sleep(3_600_000, controller.signal);
  });

  it.each([0, -1, Number.NaN])('resolves at once for %d ms', async (ms) => {
    await sleep(ms, never);
  });
});

describe('untilAborted', () => {
  it('gives the result of the work, and its rejection', async () => {
    expect(await untilAborted(Promise.resolve(7), never)).toBe(7);
    await expect(untilAborted(Promise.reject(new Error('work')), never)).rejects.toThrow('work');
  });

  it('rejects with the reason of the signal while the work still runs', async () => {
    const controller = new AbortController();
    const waiting = untilAborted(hanging(), controller.signal);
    controller.abort(new Error('left'));
    await expect(waiting).rejects.toThrow('left');
    await expect(untilAborted(hanging(), controller.signal)).rejects.toThrow('left');
  });
});

describe('undefinedIfAborted', () => {
  it('gives undefined on an abort (no rejection) and does not begin work after it', async () => {
    const controller = new AbortController();
    const waiting = undefinedIfAborted(hanging, controller.signal);
    controller.abort();
    expect(await waiting).toBeUndefined();
    let isBegun = false;
    const begin = async (): Promise<void> => {
      isBegun = true;
    };
    expect(await undefinedIfAborted(begin, controller.signal)).toBeUndefined();
    expect(isBegun).toBe(false);
  });

  it('rejects as the work does while nobody aborts', async () => {
    const fail = async (): Promise<never> => {
      throw new Error('work');
    };
    await expect(undefinedIfAborted(fail, never)).rejects.toThrow('work');
  });
});
