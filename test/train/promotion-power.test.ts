import { describe, expect, it } from 'vitest';
import { createRandom } from '../../src/base/random.ts';
import {
  DEFAULT_PROMOTION,
  isInCanary,
  type PromotionSettings,
  promote,
  startPromotion,
} from '../../src/train/promotion.ts';

const LIVE = { version: 0, sampler: undefined };
const NEW = { version: 1, sampler: 'path' };

/** Held-out tasks on which the two agree but for some; then sessions, on which each succeeds as often as it does. */
interface World {
  readonly better: number;
  readonly worse: number;
}

function isPromoted(
  { better, worse }: World,
  seed: string,
  settings: PromotionSettings,
): { readonly stage: string; readonly pairs: number } {
  const random = createRandom(seed);
  let state = promote(startPromotion(LIVE), { type: 'proposed', served: NEW }, settings).state;
  let pairs = 0;
  while (state.trial?.stage === 'candidate') {
    const place = random.next();
    const isBetter = place < better;
    const isWorse = !isBetter && place < better + worse;
    const both = random.next() < 0.6 ? 1 : 0;
    state = promote(
      state,
      {
        type: 'pair-scored',
        version: 1,
        pair: `${pairs++}`,
        candidate: isBetter ? 1 : isWorse ? 0 : both,
        live: isBetter ? 0 : isWorse ? 1 : both,
      },
      settings,
    ).state;
  }
  for (let session = 0; state.trial !== undefined; session++) {
    const name = `${seed}/${session}`;
    const chance = 0.6 + (isInCanary(name, 1, settings.canaryShare) ? better - worse : 0);
    const score = random.next() < chance ? 1 : 0;
    state = promote(state, { type: 'session-scored', session: name, score }, settings).state;
  }
  return { stage: state.live.version === 1 ? 'live' : 'turned back', pairs };
}

function shareOf(
  world: World,
  runs: number,
  settings = DEFAULT_PROMOTION,
): { readonly share: number; readonly pairs: number } {
  let promoted = 0;
  const pairs: number[] = [];
  for (let run = 0; run < runs; run++) {
    const end = isPromoted(world, `${world.better}/${world.worse}/${run}`, settings);
    if (end.stage === 'live') promoted++;
    pairs.push(end.pairs);
  }
  return { share: promoted / runs, pairs: pairs.sort((a, b) => a - b)[Math.floor(runs / 2)] ?? 0 };
}

describe('promotion', () => {
  it.each([
    { better: 0.05, worse: 0.1 },
    { better: 0.1, worse: 0.15 },
  ])('of a checkpoint that is truly five points worse happens in less than 5 % of the runs (%o)', (world) => {
    expect(shareOf(world, 100).share).toBeLessThan(0.05);
  });

  it('of a checkpoint worse by exactly the margin happens in at most 5 % of runs, within chance', () => {
    expect(shareOf({ better: 0.1, worse: 0.12 }, 100).share).toBeLessThan(
      0.05 + 3 * Math.sqrt((0.05 * 0.95) / 100),
    );
  });

  it.each([
    { better: 0.1, worse: 0.05 },
    { better: 0.15, worse: 0.1 },
    { better: 0.3, worse: 0.02 },
  ])(
    'of a truly better checkpoint happens in more than 80 % of the runs within 1,000 tasks (%o)',
    (world) => {
      expect(DEFAULT_PROMOTION.mostPairs).toBe(1000);
      const { share, pairs } = shareOf(world, 100);
      expect(share).toBeGreaterThan(0.8);
      expect(pairs).toBeLessThanOrEqual(450);
    },
  );
});
