import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { createWakeTimer } from '../../src/learn/wake-timer.ts';

/** The times at which the timer fired, in milliseconds from now. */
function open() {
  const from = systemClock.monotonic();
  const rings: number[] = [];
  const alarm = createWakeTimer(systemClock, () => rings.push(systemClock.monotonic() - from));
  const until = async (count: number) => {
    while (rings.length < count) await pause(5);
  };
  return { alarm, rings, until };
}

describe('the wake timer', () => {
  it('fires at the earliest requested time and again at the latest', async () => {
    const { alarm, rings, until } = open();
    alarm.set(10);
    alarm.set(80);
    alarm.set(40);
    await until(2);
    expect(rings[1]).toBeGreaterThanOrEqual(79);
    expect(alarm.isSet).toBe(false);
    await pause(50);
    expect(rings).toHaveLength(2);
  });

  it('fires sooner on request and keeps the earlier request', async () => {
    const { alarm, rings, until } = open();
    alarm.set(60);
    alarm.set(0);
    await until(2);
    expect(rings[1]).toBeGreaterThanOrEqual(59);
  });

  it('does not fire after it was cleared', async () => {
    const { alarm, rings } = open();
    alarm.set(5);
    alarm.clear();
    await pause(40);
    expect(rings).toEqual([]);
  });
});
