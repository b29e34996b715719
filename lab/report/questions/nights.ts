import { CONDITIONS } from '../../suite/arms.ts';
import type { NightRecord } from '../../suite/run-records.ts';
import { NO_VALUE, percent } from '../format-numbers.ts';
import { compareText } from './question-rows.ts';

/** A night with training or a measurement. */
export interface NightReport extends NightRecord {
  /** Whether other weights serve from here on than on the day before. */
  readonly isNew: boolean;
}

/** In order of condition, seed and day, whatever the journal's order. Nights without work are left out. */
export function reportNights(seen: readonly NightRecord[]): readonly NightReport[] {
  const serving = new Map<string, number>();
  return [...eachOnce(seen).values()].sort(compareNights).flatMap((night) => {
    const run = `${night.condition}/${night.seed}`;
    const isNew = night.serving !== (serving.get(run) ?? 0);
    serving.set(run, night.serving);
    const isIdle = night.steps === 0 && night.pairs === 0 && night.moves.length === 0 && !isNew;
    return isIdle ? [] : [{ ...night, isNew }];
  });
}

/** A day on which new weights began to serve, for one or several seeds. */
export interface WeightsMark {
  readonly day: number;
  readonly label: string;
  readonly title: string;
}

/** One mark for a day, whatever the seeds; none for weights after the last day. */
export function weightsMarks(nights: readonly NightReport[], lastDay: number): readonly WeightsMark[] {
  const byDay = new Map<number, NightReport[]>();
  for (const night of nights) {
    if (!night.isNew || night.day >= lastDay) continue;
    byDay.set(night.day + 1, [...(byDay.get(night.day + 1) ?? []), night]);
  }
  return [...byDay]
    .sort(([a], [b]) => a - b)
    .map(([day, changed]) => {
      const versions = changed.map(({ serving }) => serving);
      const [low, high] = [Math.min(...versions), Math.max(...versions)];
      return {
        day,
        label: low === high ? `weights v${low}` : `weights v${low} to v${high}`,
        title: changed.map(({ seed, serving }) => `seed ${seed}: version ${serving}`).join(', '),
      };
    });
}

/** Complete attempts in the first and in the last step: `60.9 % → 92.2 %` */
export const completionChange = ({ first, last }: NightReport): string =>
  first === undefined || last === undefined
    ? NO_VALUE
    : `${percent(first.completion)} → ${percent(last.completion)}`;

export const servingText = ({ isNew, serving }: NightReport): string =>
  `v${serving} ${isNew ? 'serves' : 'stays'}`;

/** A journal that two processes wrote may have a night twice: the one whose JSON sorts first counts. */
function eachOnce(seen: readonly NightRecord[]): ReadonlyMap<string, NightRecord> {
  const held = new Map<string, NightRecord>();
  for (const night of seen) {
    const key = `${night.condition}/${night.seed}/${night.day}`;
    const before = held.get(key);
    if (before === undefined || compareText(JSON.stringify(night), JSON.stringify(before)) < 0)
      held.set(key, night);
  }
  return held;
}

const compareNights = (a: NightRecord, b: NightRecord): number =>
  CONDITIONS.indexOf(a.condition) - CONDITIONS.indexOf(b.condition) || a.seed - b.seed || a.day - b.day;
