import { pathToFileURL } from 'node:url';

/* The built program, from the root of the checkout: benches are compiled on their own. */
export type { WorkTask } from '../../../dist/app/training/work-task.js';
export type { Sampler } from '../../../dist/core/training.js';
export type { TinkerEngine } from '../../../dist/train/tinker/tinker-engine.js';

const load = async <T>(file: string): Promise<T> =>
  (await import(pathToFileURL(`dist/${file}.js`).href)) as T;

export const { attemptTask } =
  await load<typeof import('../../../dist/app/training/attempt-task.js')>('app/training/attempt-task');
export const { createRollOut } =
  await load<typeof import('../../../dist/app/training/roll-out.js')>('app/training/roll-out');
export const { makeWorkTasks } =
  await load<typeof import('../../../dist/app/training/work-task.js')>('app/training/work-task');
export const { readNano } =
  await load<typeof import('../../../dist/app/engine/read-nano.js')>('app/engine/read-nano');
export const { systemClock } = await load<typeof import('../../../dist/core/clock.js')>('core/clock');
export const { createNanoTemplate } =
  await load<typeof import('../../../dist/nano/policy/nano-template.js')>('nano/policy/nano-template');
export const { createRandom } = await load<typeof import('../../../dist/stats/random.js')>('stats/random');
export const { withShuffledRewards } =
  await load<typeof import('../../../dist/train/controls.js')>('train/controls');
export const { createMemoryJournal } =
  await load<typeof import('../../../dist/train/step-journal.js')>('train/step-journal');
export const { train } = await load<typeof import('../../../dist/train/trainer.js')>('train/trainer');
export const { connectTinker } = await load<typeof import('../../../dist/train/tinker/connect-tinker.js')>(
  'train/tinker/connect-tinker',
);
export const { wilsonInterval } = await load<typeof import('../../../dist/stats/wilson.js')>('stats/wilson');
