import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../../src/core/clock.ts';
import type { IdleReading } from '../../../src/schedule/idle/idle-readers.ts';
import { createIdleSource } from '../../../src/schedule/idle/idle-source.ts';

const signal = new AbortController().signal;
const MINUTE = 60_000;

function open(rules = { awayMs: 30 * MINUTE, presentMs: 5 * MINUTE }) {
  const clock = createManualClock();
  let next: IdleReading | Error = { kind: 'unknown', why: '' };
  const source = createIdleSource({
    reader: {
      name: 'test',
      sees: 'what the test says',
      read: async () => {
        if (next instanceof Error) throw next;
        return next;
      },
    },
    rules,
    clock,
    uptimeMs: () => 10 * 60 * MINUTE,
  });
  const see = async (reading: IdleReading | Error | number, after = 10_000): Promise<string> => {
    clock.advance(after);
    next = typeof reading === 'number' ? { kind: 'idle', ms: reading } : reading;
    return (await source.read(0, signal)).state;
  };
  return { see };
}

describe('an idle source', () => {
  it('does not let readings confirm each other over a night in suspend', async () => {
    const { see } = open();
    expect(await see(31 * MINUTE)).toBe('unknown');
    expect(await see(9 * 60 * MINUTE, 9 * 60 * MINUTE)).toBe('unknown');
    expect(await see(9 * 60 * MINUTE)).toBe('away');
  });

  it('starts over when the idle time fell between two readings', async () => {
    const { see } = open();
    expect(await see(90 * MINUTE)).toBe('unknown');
    expect(await see(31 * MINUTE)).toBe('unknown');
    expect(await see(31 * MINUTE + 10_000)).toBe('away');
  });

  it('needs two in a row: an unknown between them does not count', async () => {
    const { see } = open();
    expect(await see(40 * MINUTE)).toBe('unknown');
    expect(await see({ kind: 'unknown', why: 'hiccup' })).toBe('unknown');
    expect(await see(40 * MINUTE)).toBe('unknown');
    expect(await see(new Error('broken reader'))).toBe('unknown');
    expect(await see(40 * MINUTE)).toBe('unknown');
    expect(await see(40 * MINUTE)).toBe('away');
  });

  it('is not away for an impossible idle time', async () => {
    const { see } = open();
    for (const ms of [-1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 63, 11 * 60 * MINUTE + MINUTE]) {
      expect(await see(ms)).toBe('unknown');
      expect(await see(ms)).toBe('unknown');
    }
  });

  it('is present for less than a threshold that is shorter than its own five minutes', async () => {
    const { see } = open({ awayMs: MINUTE, presentMs: 5 * MINUTE });
    expect(await see(59_000)).toBe('present');
    expect(await see(61_000)).toBe('unknown');
    expect(await see(71_000)).toBe('away');
  });
});
