import { CONDITIONS, type NightSeen } from '../row.ts';
import { NOTHING, percent } from './numbers.ts';
import { compareText } from './order-rows.ts';

/** A night in which something was done. */
export interface NightReport extends NightSeen {
  /** Whether the weights that serve from here on are others than those of the day. */
  readonly isNew: boolean;
}

/** In order, whatever that of the journal was. Nights in which there was nothing to do are left out. */
export function nightsOf(seen: readonly NightSeen[]): readonly NightReport[] {
  const serving = new Map<string, number>();
  return [...eachOnce(seen).values()].sort(compareNights).flatMap((night) => {
    const run = `${night.condition}/${night.seed}`;
    const isNew = night.serving !== (serving.get(run) ?? 0);
    serving.set(run, night.serving);
    const isIdle = night.steps === 0 && night.pairs === 0 && night.moves.length === 0 && !isNew;
    return isIdle ? [] : [{ ...night, isNew }];
  });
}

/** Where the weights of one or several seeds changed. */
export interface WeightsMark {
  /** The day that they served first. */
  readonly day: number;
  readonly label: string;
  readonly told: string;
}

/** One mark for a day, whatever the seeds; weights that no day was left for have none. */
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
        told: changed.map(({ seed, serving }) => `seed ${seed}: version ${serving}`).join(', '),
      };
    });
}

/** Complete attempts in the first step and in the last: `60.9 % → 92.2 %` */
export const shareChange = ({ first, last }: NightReport): string =>
  first === undefined || last === undefined
    ? NOTHING
    : `${percent(first.completion)} → ${percent(last.completion)}`;

export const becameOf = ({ isNew, serving }: NightReport): string =>
  `v${serving} ${isNew ? 'serves' : 'stays'}`;

/** A journal that two processes wrote may have a night twice: of two, the one that is written smaller. */
function eachOnce(seen: readonly NightSeen[]): ReadonlyMap<string, NightSeen> {
  const held = new Map<string, NightSeen>();
  for (const night of seen) {
    const key = `${night.condition}/${night.seed}/${night.day}`;
    const before = held.get(key);
    if (before === undefined || compareText(JSON.stringify(night), JSON.stringify(before)) < 0)
      held.set(key, night);
  }
  return held;
}

const compareNights = (a: NightSeen, b: NightSeen): number =>
  CONDITIONS.indexOf(a.condition) - CONDITIONS.indexOf(b.condition) || a.seed - b.seed || a.day - b.day;
