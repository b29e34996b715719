/** The learning rate over the steps of a run: constant, or linear decay to a share of it. */
export type RateSchedule = 'constant' | { readonly downTo: number };

/** The rate at step `step` (from 0) of `steps`; the last step has exactly the share. */
export function rateAt(rate: number, schedule: RateSchedule, step: number, steps: number): number {
  if (schedule === 'constant') return rate;
  const done = steps <= 1 ? 0 : Math.min(1, step / (steps - 1));
  return rate * (1 - (1 - schedule.downTo) * done);
}
