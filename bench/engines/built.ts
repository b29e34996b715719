import { pathToFileURL } from 'node:url';

/*
 * The parts of the built program that are driven here. Benches are compiled on their own, so they are loaded from `dist`,
 * from the root of the checkout; their types come from there as well.
 */
const load = async <T>(file: string): Promise<T> =>
  (await import(pathToFileURL(`dist/${file}.js`).href)) as T;

export const { connectTinker } = await load<typeof import('../../dist/train/tinker/connect-tinker.js')>(
  'train/tinker/connect-tinker',
);
export const { train } = await load<typeof import('../../dist/train/trainer.js')>('train/trainer');
export const { createRandom } = await load<typeof import('../../dist/stats/random.js')>('stats/random');
export const { systemClock } = await load<typeof import('../../dist/core/clock.js')>('core/clock');
