import { CONDITIONS } from '../suites/arms.ts';
import type { NightRecord } from '../suites/run-records.ts';
import { compareText } from './question-rows.ts';

/** A night with attempts, training or a measurement. */
export interface NightReport extends NightRecord {
  /** Whether other weights serve from here on than on the day before. */
  readonly isNew: boolean;
}

/** In order of condition, seed and day, whatever the journal's order. Nights without work are left out. */
export function reportNights(records: readonly NightRecord[]): readonly NightReport[] {
  const serving = new Map<string, number>();
  return eachOnce(records)
    .sort(compareNights)
    .flatMap((night) => {
      const run = `${night.condition}/${night.seed}`;
      const isNew = night.serving !== (serving.get(run) ?? 0);
      serving.set(run, night.serving);
      // Attempts that all did the same train nothing, and were made all the same.
      const isIdle =
        night.steps === 0 &&
        night.first === undefined &&
        night.pairs === 0 &&
        night.moves.length === 0 &&
        !isNew;
      return isIdle ? [] : [{ ...night, isNew }];
    });
}

/** The days on which new weights began to serve for any seed; none for weights after the last day. */
export const daysOfNewWeights = (nights: readonly NightReport[], lastDay: number): readonly number[] =>
  [...new Set(nights.filter(({ isNew }) => isNew).map(({ day }) => day + 1))]
    .filter((day) => day <= lastDay)
    .sort((a, b) => a - b);

/** A journal that two processes wrote may have a night twice: the one whose JSON sorts first counts. */
function eachOnce(records: readonly NightRecord[]): NightRecord[] {
  const byNight = new Map<string, NightRecord>();
  for (const night of records) {
    const key = `${night.condition}/${night.seed}/${night.day}`;
    const before = byNight.get(key);
    if (before === undefined || compareText(JSON.stringify(night), JSON.stringify(before)) < 0)
      byNight.set(key, night);
  }
  return [...byNight.values()];
}

const compareNights = (a: NightRecord, b: NightRecord): number =>
  CONDITIONS.indexOf(a.condition) - CONDITIONS.indexOf(b.condition) || a.seed - b.seed || a.day - b.day;
