import type { Growth, Interval } from './api-shapes.ts';

type Day = Growth['days'][number];

export interface PooledDays {
  /** The first and the last day. */
  readonly from: string;
  readonly to: string;
  readonly success: Interval | null;
  readonly reward: Interval | null;
}

/** Of the normal distribution, for 95 %. */
const Z = 1.96;

/** Days in groups of `size`, the newest group full: single days of little work are noise. */
export function poolDays(days: readonly Day[], size: number): readonly PooledDays[] {
  const first = days.length % size;
  const groups = first === 0 ? [] : [days.slice(0, first)];
  for (let at = first; at < days.length; at += size) groups.push(days.slice(at, at + size));
  return groups.map((group) => ({
    from: group[0]?.day ?? '',
    to: group.at(-1)?.day ?? '',
    success: poolSuccess(group),
    reward: poolReward(group),
  }));
}

/** Wilson's interval of the share of successes. */
function poolSuccess(group: readonly Day[]): Interval | null {
  const [only] = group;
  if (group.length === 1 && only !== undefined) return only.success;
  const successes = group.reduce((sum, day) => sum + day.successes, 0);
  const n = successes + group.reduce((sum, day) => sum + day.failures, 0);
  if (n === 0) return null;
  const mean = successes / n;
  const middle = (mean + Z ** 2 / (2 * n)) / (1 + Z ** 2 / n);
  const half = (Z / (1 + Z ** 2 / n)) * Math.sqrt((mean * (1 - mean)) / n + Z ** 2 / (4 * n ** 2));
  return { mean, low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}

/** The mean weighted by the scored sessions; the half-widths of days add as independent errors do. */
function poolReward(group: readonly Day[]): Interval | null {
  const known = group.flatMap(({ reward, scored }) =>
    reward === null || scored === 0 ? [] : [{ ...reward, n: scored }],
  );
  const n = known.reduce((sum, day) => sum + day.n, 0);
  if (n === 0) return null;
  const mean = known.reduce((sum, day) => sum + day.n * day.mean, 0) / n;
  const below = Math.hypot(...known.map((day) => day.n * (day.mean - day.low))) / n;
  const above = Math.hypot(...known.map((day) => day.n * (day.high - day.mean))) / n;
  return { mean, low: Math.max(-1, mean - below), high: Math.min(1, mean + above) };
}
