import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createAlarm } from '../../../src/app/learning/alarm.ts';
import { systemClock } from '../../../src/core/clock.ts';

/** When it rang, in milliseconds from now on. */
function open() {
  const from = systemClock.monotonic();
  const rings: number[] = [];
  const alarm = createAlarm(systemClock, () => rings.push(systemClock.monotonic() - from));
  const until = async (count: number) => {
    while (rings.length < count) await pause(5);
  };
  return { alarm, rings, until };
}

describe('an alarm', () => {
  it('rings at the first moment asked for, and again at the last, which came while it was set', async () => {
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

  it('comes sooner when it is asked to, and does not forget what it was set for before', async () => {
    const { alarm, rings, until } = open();
    alarm.set(60);
    alarm.set(0);
    await until(2);
    expect(rings[1]).toBeGreaterThanOrEqual(59);
  });

  it('is silent once it was cleared', async () => {
    const { alarm, rings } = open();
    alarm.set(5);
    alarm.clear();
    await pause(40);
    expect(rings).toEqual([]);
  });
});
