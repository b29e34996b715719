import { describe, expect, it } from 'vitest';
import { parseSleep } from '../../../src/schedule/windows/parse-sleep.ts';
import { createSleepSource } from '../../../src/schedule/windows/sleep-windows.ts';
import { systemZone } from '../../../src/schedule/windows/zone.ts';

const parsed = parseSleep('23:00-07:00');
const rules = parsed.ok ? parsed.rules : [];
const signal = new AbortController().signal;
const at = (text: string): number => Date.parse(text);

describe('the sleep source', () => {
  it('is away within the hours, until they end', async () => {
    const source = createSleepSource({ rules, zone: () => 'Europe/Berlin' });
    expect(await source.read(at('2026-06-05T22:00:00Z'), signal)).toEqual({
      source: 'sleep',
      state: 'away',
      why: 'quiet hours until 07:00',
      until: at('2026-06-06T05:00:00Z'),
    });
  });

  it('is unknown outside of them (not: present)', async () => {
    const source = createSleepSource({ rules, zone: () => 'Europe/Berlin' });
    expect(await source.read(at('2026-06-05T12:00:00Z'), signal)).toEqual({
      source: 'sleep',
      state: 'unknown',
      why: 'quiet hours begin at 23:00',
      until: at('2026-06-05T21:00:00Z'),
    });
  });

  it('follows a machine that changes its zone while it runs', async () => {
    let zone = 'Europe/Berlin';
    const source = createSleepSource({ rules, zone: () => zone });
    const midnightInBerlin = at('2026-06-05T22:00:00Z');
    expect((await source.read(midnightInBerlin, signal)).state).toBe('away');
    zone = 'America/New_York';
    expect((await source.read(midnightInBerlin, signal)).state).toBe('unknown');
    zone = 'Nowhere/Else';
    expect(await source.read(midnightInBerlin, signal)).toMatchObject({ state: 'unknown' });
    zone = 'Europe/Berlin';
    expect((await source.read(midnightInBerlin, signal)).state).toBe('away');
  });

  it('is unknown without hours and for an invalid clock', async () => {
    expect((await createSleepSource({ rules: [] }).read(0, signal)).state).toBe('unknown');
    const source = createSleepSource({ rules, zone: () => 'UTC' });
    for (const now of [Number.NaN, Number.POSITIVE_INFINITY, 9e15, -9e15]) {
      expect((await source.read(now, signal)).state, String(now)).toBe('unknown');
    }
  });

  it('takes the zone of the system, also when it changes', () => {
    const before = process.env.TZ;
    try {
      process.env.TZ = 'Asia/Tokyo';
      expect(systemZone()).toBe('Asia/Tokyo');
      process.env.TZ = 'America/Lima';
      expect(systemZone()).toBe('America/Lima');
    } finally {
      if (before === undefined) delete process.env.TZ;
      else process.env.TZ = before;
    }
  });
});
