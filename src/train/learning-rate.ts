/** How the rate goes from the first step to the last: as it is, or in a line down to a share of it. */
export type RateSchedule = 'constant' | { readonly downTo: number };

/** The rate of step `step` (from 0) of `steps`; the last has the share exactly. */
export function rateAt(rate: number, schedule: RateSchedule, step: number, steps: number): number {
  if (schedule === 'constant') return rate;
  const done = steps <= 1 ? 0 : Math.min(1, step / (steps - 1));
  return rate * (1 - (1 - schedule.downTo) * done);
}
