import { type PairedMeasurement, pairedBootstrap } from '../../lab/report/paired-bootstrap.ts';
import { createRandom, type Random } from '../../src/base/random.ts';

export interface World {
  readonly name: string;
  readonly truth: number;
  readonly blocks: number;
  size(random: Random): number;
  /** The common effect of a block's pairs. */
  shared(random: Random): number;
  pair(random: Random, shared: number): readonly [number, number];
}

const coin = (random: Random, p: number): number => (random.next() < p ? 1 : 0);

/** A gain of −20 … +20 points per day: pairs of one day are dependent. */
const dayEffect = (random: Random): number => 0.4 * (random.next() - 0.5);

/** Of few pairs: hundreds of experiments take a moment. */
export const smallWorlds: readonly World[] = [
  {
    name: '8 blocks of 12 that hang together',
    truth: 0.1,
    blocks: 8,
    size: () => 12,
    shared: dayEffect,
    pair: (random, shared) => [coin(random, 0.6 + shared), coin(random, 0.5)],
  },
  {
    name: 'blocks of 1 to 40',
    truth: 0.1,
    blocks: 30,
    size: (random) => 1 + random.below(40),
    shared: dayEffect,
    pair: (random, shared) => [coin(random, 0.6 + shared), coin(random, 0.5)],
  },
  {
    name: 'a whole day gained or nothing',
    truth: 0.3,
    blocks: 20,
    size: () => 11,
    shared: (random) => coin(random, 0.3),
    pair: (_, shared) => [shared, 0],
  },
];

export const largeWorlds: readonly World[] = [
  {
    name: '42 blocks of independent pairs',
    truth: 0.1,
    blocks: 42,
    size: () => 42,
    shared: () => 0,
    pair: (random) => [coin(random, 0.6), coin(random, 0.5)],
  },
  {
    name: '42 blocks that hang together',
    truth: 0.1,
    blocks: 42,
    size: () => 42,
    shared: dayEffect,
    pair: (random, shared) => [coin(random, 0.6 + shared), coin(random, 0.5)],
  },
  {
    name: '14 blocks that hang together',
    truth: 0.1,
    blocks: 14,
    size: () => 42,
    shared: dayEffect,
    pair: (random, shared) => [coin(random, 0.6 + shared), coin(random, 0.5)],
  },
  {
    name: 'rare gains, no losses',
    truth: 0.03,
    blocks: 42,
    size: () => 42,
    shared: () => 0,
    pair: (random) => [1, 1 - coin(random, 0.03)],
  },
];

export function draw({ name, blocks, size, shared, pair }: World, run: number): readonly PairedMeasurement[] {
  const random = createRandom(`${name}/${run}`);
  return Array.from({ length: blocks }, (_, block) => {
    const inCommon = shared(random);
    return Array.from({ length: size(random) }, () => {
      const [a, b] = pair(random, inCommon);
      return { block: String(block), a, b };
    });
  }).flat();
}

const RUNS = 400;

/** In how many experiments of a world the interval covers the truth. */
export function coverage(world: World): number {
  let covered = 0;
  for (let run = 0; run < RUNS; run++) {
    const { interval } = pairedBootstrap(draw(world, run), { seed: `${run}`, resamples: 500 });
    if (interval !== undefined && interval.low <= world.truth && world.truth <= interval.high) covered++;
  }
  return covered / RUNS;
}
