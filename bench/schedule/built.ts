import { pathToFileURL } from 'node:url';

/*
 * The parts of the built program that are measured. Benches are compiled on their own, so they are loaded from `dist`, from
 * the root of the checkout; their types come from there as well.
 */
const load = async <T>(file: string): Promise<T> =>
  (await import(pathToFileURL(`dist/${file}.js`).href)) as T;

export const { createScheduler } =
  await load<typeof import('../../dist/schedule/scheduler.js')>('schedule/scheduler');
export const { createLeases } = await load<typeof import('../../dist/schedule/leases.js')>('schedule/leases');
export const { createDayBudget, localDay } =
  await load<typeof import('../../dist/schedule/day-budget.js')>('schedule/day-budget');
export const { createIdleSource } =
  await load<typeof import('../../dist/schedule/idle/idle-source.js')>('schedule/idle/idle-source');
export const { createSleepSource } = await load<typeof import('../../dist/schedule/windows/sleep-source.js')>(
  'schedule/windows/sleep-source',
);
export const { suspendChild } =
  await load<typeof import('../../dist/schedule/suspend-child.js')>('schedule/suspend-child');
export const { defaultRules } = await load<typeof import('../../dist/schedule/state.js')>('schedule/state');
export const { createRandom } = await load<typeof import('../../dist/stats/random.js')>('stats/random');
export const { systemClock } = await load<typeof import('../../dist/core/clock.js')>('core/clock');
