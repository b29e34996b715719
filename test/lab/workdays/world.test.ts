import { describe, expect, it } from 'vitest';
import { dayNumberOf } from '../../../lab/suites/workdays/make-world/calendar.ts';
import { makeDays, WORKDAYS } from '../../../lab/suites/workdays/make-world/make-days.ts';
import { type DayFacts, type LocalTime, SPLITS } from '../../../lab/suites/workdays/world.ts';

const SEEDS = [1, 2, 3, 4];

/** Every value of a kind anywhere in it, found by its name: nothing that is added later goes unseen. */
function valuesAt(value: unknown, keys: readonly string[], found: unknown[] = []): readonly unknown[] {
  if (Array.isArray(value)) for (const item of value) valuesAt(item, keys, found);
  else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) {
      if (keys.includes(key)) found.push(inner);
      valuesAt(inner, keys, found);
    }
  }
  return found;
}

const facts: Readonly<Record<string, readonly string[]>> = {
  names: ['owner', 'by', 'project', 'company', 'product', 'title', 'source', 'topic', 'way'],
  numbers: ['number', 'value', 'planned', 'spent', 'estimateHours', 'low', 'high'],
  versions: ['version', 'id'],
};
/** Negative when the first is earlier. */
const compareMoments = (a: LocalTime, b: LocalTime): number =>
  dayNumberOf(a) - dayNumberOf(b) || a.hour - b.hour || a.minute - b.minute;

const momentsOf = (days: readonly DayFacts[]): readonly LocalTime[] =>
  valuesAt(days, ['at', 'reviewAt', 'dueAt', 'today']) as readonly LocalTime[];

describe('makeDays', () => {
  it('makes the same world for the same seed and another for a different seed', () => {
    expect(JSON.stringify(makeDays('train', 7))).toBe(JSON.stringify(makeDays('train', 7)));
    const texts = SEEDS.map((seed) => JSON.stringify(makeDays('train', seed)));
    expect(new Set(texts).size).toBe(SEEDS.length);
  });

  it('shares no name, no amount and no date between splits, whatever the seeds', () => {
    const of = SPLITS.map((split) => SEEDS.map((seed) => makeDays(split, seed)));
    let compared = 0;
    for (const keys of Object.values(facts)) {
      const sets = of.map((worlds) => new Set(valuesAt(worlds, keys).map(String)));
      // A day's id is a name of ours, not of the world.
      for (const set of sets) for (const value of set) if (/^day\d+$/.test(value)) set.delete(value);
      for (const [at, set] of sets.entries()) {
        expect(set.size).toBeGreaterThan(30);
        for (const other of sets.slice(at + 1)) {
          compared++;
          expect([...set].filter((value) => other.has(value))).toEqual([]);
        }
      }
    }
    const dates = of.map((worlds) => new Set(worlds.flatMap(momentsOf).map(dayNumberOf)));
    for (const [at, set] of dates.entries()) {
      expect(set.size).toBeGreaterThan(100);
      for (const other of dates.slice(at + 1)) {
        compared++;
        expect([...set].filter((value) => other.has(value))).toEqual([]);
      }
    }
    expect(compared).toBe(12);
  });

  it('has weekdays in order, with entries before today', () => {
    let checked = 0;
    for (const split of SPLITS) {
      const days = makeDays(split, 5);
      expect(days).toHaveLength(WORKDAYS);
      for (const [at, { day }] of days.entries()) {
        const next = days[at + 1]?.day;
        if (next !== undefined) expect(compareMoments(day.today, next.today)).toBeLessThan(0);
        expect([0, 6]).not.toContain(new Date(dayNumberOf(day.today) * 86_400_000).getUTCDay());
        for (const { at: when } of [...day.decisions, ...day.deploys, ...day.figures]) {
          checked++;
          expect(compareMoments(when, day.today)).toBeLessThan(0);
        }
      }
    }
    expect(checked).toBeGreaterThan(500);
  });

  it('repeats no ticket, decision or version in a world, and grows with the day', () => {
    const days = makeDays('gate', 3);
    const ids = days.flatMap(({ day }) => [
      ...day.tickets.map(({ number }) => `t${number}`),
      ...day.decisions.map(({ id }) => id),
      ...day.deploys.map(({ version }) => version),
    ]);
    expect(new Set(ids).size).toBe(ids.length);
    const [first, last] = [days.at(0)?.day, days.at(-1)?.day];
    for (const kind of ['tickets', 'decisions', 'deploys', 'figures'] as const) {
      expect(last?.[kind].length).toBeGreaterThan(first?.[kind].length ?? Number.POSITIVE_INFINITY);
    }
  });
});
