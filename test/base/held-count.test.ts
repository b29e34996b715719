import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createHeldCount } from '../../src/base/held-count.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a held count', () => {
  it('tells the first at once, and what follows within the pause together', () => {
    const told: number[] = [];
    const count = createHeldCount(100, (one) => told.push(one));
    count.add(1);
    expect(told).toEqual([1]);
    count.add(2);
    count.add(3);
    expect([told, count.held()]).toEqual([[1], 5]);
    vi.advanceTimersByTime(100);
    expect([told, count.held()]).toEqual([[1, 5], 0]);
    count.add(1);
    expect(told).toEqual([1, 5]);
    vi.advanceTimersByTime(300);
    expect(told).toEqual([1, 5, 1]);
    count.add(7);
    expect(told).toEqual([1, 5, 1, 7]);
  });

  it('tells what it holds when it is asked to, and nothing twice', () => {
    const told: number[] = [];
    const count = createHeldCount(100, (one) => told.push(one));
    count.add(1);
    count.add(2);
    count.flush();
    count.flush();
    expect(told).toEqual([1, 2]);
    vi.advanceTimersByTime(1000);
    expect(told).toEqual([1, 2]);
  });

  it('loses nothing that is added while it tells', () => {
    const told: number[] = [];
    const count = createHeldCount(100, (one) => {
      told.push(one);
      if (told.length < 3) count.add(10);
    });
    count.add(1);
    vi.advanceTimersByTime(1000);
    expect(told).toEqual([1, 10, 10]);
  });
});
