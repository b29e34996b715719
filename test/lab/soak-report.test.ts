import { describe, expect, it } from 'vitest';
import { describeSoak, slopePerHour } from '../../lab/measure/soak/soak-report.ts';
import type { DaemonSample } from '../../lab/measure/soak/watch-daemon.ts';

const sampleAt = (minute: number, rssMb: number): DaemonSample => ({
  minute,
  uptime: minute,
  rssMb,
  heapMb: 30,
  fds: 50,
  handles: 10,
  threads: 14,
  lagP99: 5,
  lagMax: 20,
  storeMb: 1,
  logMb: 0,
  lessons: 3,
  lost: 0,
});

describe('the report of a soak', () => {
  it('gives the growth per hour (not per minute or per sample)', () => {
    const samples = [10, 20, 30, 40].map((minute) => sampleAt(minute, 100 + minute / 2));
    expect(slopePerHour(samples, ({ rssMb }) => rssMb)).toBeCloseTo(30, 6);
    expect(slopePerHour(samples, ({ fds }) => fds)).toBe(0);
    expect(slopePerHour(samples.slice(2), ({ rssMb }) => rssMb)).toBeNaN();
  });

  it('takes growth from the calm part alone, and tells lost turns apart by their distance to a kill', () => {
    const samples = [
      ...[1, 5, 10].map((minute) => sampleAt(minute, 400)),
      ...[42, 50, 58].map((minute) => sampleAt(minute, 200)),
    ];
    const text = describeSoak({
      minutes: 60,
      perSecond: 2,
      calmFrom: 40,
      samples,
      kills: 7,
      copies: { made: 6, failed: 1 },
      acknowledged: 5000,
      lost: { atKill: 2, other: 1 },
      feedback: { confirmed: 90, lost: 0 },
      ends: new Map([['complete', 5000]]),
      faults: new Map([['well', 5100]]),
      findings: [],
      turns: 5200,
      exitCode: 0,
    });
    expect(text).toMatch(/^\| per hour, calm part \| {2}\| 0 \|/m);
    expect(text).toContain('5000 acknowledged with a whole reply, 1 of them lost; 2 lost of those');
  });
});
