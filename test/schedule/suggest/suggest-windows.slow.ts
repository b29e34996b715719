import { describe, expect, it } from 'vitest';
import { createRandom } from '../../../src/base/random.ts';
import { shareOf } from '../../../src/schedule/suggest/quiet-hours.ts';
import { type Suggestion, suggestWindows } from '../../../src/schedule/suggest/suggest-windows.ts';
import { parseSleep } from '../../../src/schedule/windows/parse-sleep.ts';
import { createSleepWindows } from '../../../src/schedule/windows/sleep-windows.ts';
import { openZone } from '../../../src/schedule/windows/zone.ts';
import { wilsonInterval } from '../../../src/stats/interval.ts';
import { type Life, simulateActivity } from './simulated-users.ts';

const NOW = Date.parse('2026-11-15T10:00:00Z');
const HOUR = 3_600_000;
const MANY_SEEDS = Array.from({ length: 10 }, (_, index) => `user/${index}`);
const SEEDS = MANY_SEEDS.slice(0, 5);
const isWeekend = (weekday: number): boolean => weekday === 0 || weekday === 6;

type Chance = Life['chance'];
const suggestFor = (seed: string, chance: Chance, days = 40, zone = 'Europe/Berlin'): Suggestion =>
  suggestWindows({ activity: simulateActivity({ seed, zone, now: NOW, days, chance }), zone, now: NOW });

/** `mon 23` for each hour of the week that the suggestion covers, asked of the windows themselves. */
function covers(suggestion: Suggestion, weekday: number, hour: number): boolean {
  if (suggestion.kind === 'nothing') return false;
  const parsed = parseSleep(suggestion.text);
  const zone = openZone('UTC');
  if (!parsed.ok || zone === undefined) throw new Error(suggestion.text);
  // The fourth of January 1970 was a Sunday.
  const instant = Date.UTC(1970, 0, 4 + weekday, hour, 30);
  return createSleepWindows(parsed.rules, zone).isInside(instant);
}

const office: Chance = (weekday, hour) => {
  if (isWeekend(weekday)) return hour >= 11 && hour < 22 ? 0.3 : 0;
  return hour >= 8 && hour < 19 ? 0.8 : hour >= 19 && hour < 23 ? 0.4 : 0;
};

describe('suggestWindows', () => {
  it('finds the nights of someone who works by day, with intervals', () => {
    for (const seed of SEEDS) {
      const suggestion = suggestFor(seed, office);
      if (suggestion.kind === 'nothing') throw new Error(`${seed}: ${suggestion.why}`);
      for (const weekday of [1, 2, 3, 4, 5]) {
        for (const hour of [0, 1, 2, 3, 4, 5, 6, 7])
          expect(covers(suggestion, weekday, hour), seed).toBe(true);
        for (const hour of [9, 14, 20]) expect(covers(suggestion, weekday, hour), seed).toBe(false);
      }
      expect(suggestion.weeks).toBe(5);
      for (const { evidence } of suggestion.windows) {
        expect(evidence.share).toBeGreaterThan(0.9);
        expect(evidence.low).toBeGreaterThan(0.5);
        expect(evidence.hours).toBeGreaterThan(10);
      }
    }
  });

  it('has the intervals of the statistics room', () => {
    for (const [quiet, hours] of [
      [0, 10],
      [8, 10],
      [10, 10],
      [55, 56],
      [3, 4],
    ] as const) {
      const { low, high } = wilsonInterval(quiet, hours);
      expect(shareOf({ hours, quiet }).low).toBeCloseTo(low, 12);
      expect(shareOf({ hours, quiet }).high).toBeCloseTo(high, 12);
    }
    expect(shareOf({ hours: 0, quiet: 0 })).toMatchObject({ low: 0, high: 1 });
  });

  it('suggests whole hours in the syntax of the setting', () => {
    const suggestion = suggestFor('text', office);
    expect(suggestion.kind === 'windows' && suggestion.windows.map(({ text }) => text).join('; ')).toBe(
      suggestion.kind === 'windows' ? suggestion.text : undefined,
    );
    expect(suggestion.kind === 'windows' && parseSleep(suggestion.text).ok).toBe(true);
  });

  it('finds the days of someone who works at night', () => {
    const shift: Chance = (weekday, hour) => {
      const isOn = hour >= 21 ? weekday >= 0 && weekday <= 4 : hour < 6 && weekday >= 1 && weekday <= 5;
      return isOn ? 0.8 : isWeekend(weekday) && hour >= 14 && hour < 20 ? 0.3 : 0.01;
    };
    for (const seed of SEEDS) {
      const suggestion = suggestFor(seed, shift, 56);
      for (const weekday of [1, 2, 3, 4, 5]) {
        for (const hour of [9, 11, 13])
          expect(covers(suggestion, weekday, hour), `${seed} ${weekday} ${hour}`).toBe(true);
        for (const hour of [0, 3, 5]) expect(covers(suggestion, weekday, hour), seed).toBe(false);
      }
    }
  });

  it('treats the quiet weekdays of someone who works on weekends as a habit (not as a holiday)', () => {
    const weekend: Chance = (weekday, hour) => (isWeekend(weekday) && hour >= 9 && hour < 21 ? 0.9 : 0);
    for (const seed of SEEDS) {
      const suggestion = suggestFor(seed, weekend, 50);
      for (const weekday of [1, 2, 3, 4, 5]) expect(covers(suggestion, weekday, 12), seed).toBe(true);
      expect(covers(suggestion, 6, 12)).toBe(false);
      expect(covers(suggestion, 0, 12)).toBe(false);
    }
  });

  it('does not treat two weeks of holiday as a habit', () => {
    const holiday: Chance = (weekday, hour, ago) => (ago >= 10 && ago < 24 ? 0 : office(weekday, hour, ago));
    for (const seed of SEEDS) {
      const suggestion = suggestFor(seed, holiday, 45);
      for (const weekday of [1, 3, 5]) {
        for (const hour of [10, 12, 15]) expect(covers(suggestion, weekday, hour), seed).toBe(false);
        expect(covers(suggestion, weekday, 3), seed).toBe(true);
      }
    }
  });

  it('tolerates one night of work, and excludes one that recurs every week', () => {
    const once: Chance = (weekday, hour, ago) => (ago === 12 && hour < 5 ? 1 : office(weekday, hour, ago));
    const wednesdays: Chance = (weekday, hour, ago) =>
      weekday === 3 && hour < 4 ? 0.9 : office(weekday, hour, ago);
    for (const seed of SEEDS) {
      expect(covers(suggestFor(seed, once), 3, 2), seed).toBe(true);
      const suggestion = suggestFor(seed, wednesdays);
      expect(covers(suggestion, 3, 2), seed).toBe(false);
      expect(covers(suggestion, 4, 2), seed).toBe(true);
    }
  });

  it('never suggests hours at which a traveller is active now, and adapts within three weeks', () => {
    let learned = 0;
    for (const seed of SEEDS) {
      for (const away of [7, 23]) {
        const before = simulateActivity({
          seed,
          zone: 'Europe/Berlin',
          now: NOW - away * 24 * HOUR,
          days: 33,
          chance: office,
        });
        const after = simulateActivity({
          seed: `${seed}/there`,
          zone: 'Asia/Tokyo',
          now: NOW,
          days: away - 1,
          chance: office,
        });
        const suggestion = suggestWindows({ activity: [...before, ...after], zone: 'Asia/Tokyo', now: NOW });
        for (const weekday of [1, 2, 3, 4, 5]) {
          for (const hour of [9, 12, 15])
            expect(covers(suggestion, weekday, hour), `${seed} ${away}`).toBe(false);
        }
        if (away === 23 && covers(suggestion, 2, 3) && covers(suggestion, 4, 3)) learned++;
      }
    }
    expect(learned).toBe(SEEDS.length);
  });

  it('suggests nothing for someone without habits, at any rate of activity', () => {
    let asked = 0;
    const proposed: string[] = [];
    for (const rate of [0.01, 0.03, 0.08, 0.2, 0.5, 0.9]) {
      for (const days of [15, 22, 56]) {
        for (const seed of MANY_SEEDS) {
          asked++;
          const suggestion = suggestFor(`${seed}/${rate}/${days}`, () => rate, days);
          if (suggestion.kind === 'windows') proposed.push(`${rate} ${days}: ${suggestion.text}`);
        }
      }
    }
    expect(asked).toBe(180);
    expect(proposed).toEqual([]);
  });

  it('suggests nothing for someone whose days begin at a random hour', () => {
    const proposed = SEEDS.filter((seed) => {
      const random = createRandom(`${seed}/starts`);
      const starts = Array.from({ length: 60 }, () => random.below(24));
      return (
        suggestFor(seed, (_, hour, ago) => ((hour - (starts[ago] ?? 0) + 24) % 24 < 9 ? 0.9 : 0), 56).kind ===
        'windows'
      );
    });
    expect(proposed).toEqual([]);
  });

  it('needs two weeks, some activity, and a zone', () => {
    expect(suggestFor('short', office, 12)).toMatchObject({
      kind: 'nothing',
      why: expect.stringContaining('14 are needed'),
    });
    expect(suggestFor('long enough', office, 16).kind).toBe('windows');
    const rare = Array.from({ length: 5 }, (_, index) => NOW - (5 + index * 5) * 24 * HOUR);
    expect(suggestWindows({ activity: rare, zone: 'UTC', now: NOW }).kind).toBe('nothing');
    expect(suggestWindows({ activity: [], zone: 'UTC', now: NOW })).toMatchObject({
      kind: 'nothing',
      days: 0,
    });
    expect(suggestWindows({ activity: rare, zone: 'Not/There', now: NOW }).kind).toBe('nothing');
  });

  it('ignores impossible and future times, and the order', () => {
    const activity = simulateActivity({ seed: 'odd', zone: 'UTC', now: NOW, days: 40, chance: office });
    const odd = [Number.NaN, Number.POSITIVE_INFINITY, -1, 0, NOW + 3 * HOUR, 9e15];
    const plain = suggestWindows({ activity, zone: 'UTC', now: NOW });
    expect(plain.kind).toBe('windows');
    expect(suggestWindows({ activity: [...odd, ...[...activity].reverse()], zone: 'UTC', now: NOW })).toEqual(
      plain,
    );
  });
});
