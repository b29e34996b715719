import { describe, expect, it } from 'vitest';
import { createRandom } from '../../src/base/random.ts';
import {
  addOutcomes,
  countOutcomes,
  effectPosterior,
  meanOfTasks,
  NO_OUTCOMES,
  type OutcomeCounts,
} from '../../src/stats/effect-posterior.ts';

const counts = (some: Partial<OutcomeCounts>): OutcomeCounts => ({ ...NO_OUTCOMES, ...some });
/** As many lessons helped as harmed: the prior prefers neither. */
const EVEN = { helpful: 0, harmful: 2, noDifference: 0 };

describe('the posterior of an effect', () => {
  it('is a distribution whatever the counts are, and the same for the same counts', () => {
    const random = createRandom('counts');
    const draw = (): OutcomeCounts => ({
      success: random.below(20),
      failure: 20 * random.next(),
      praise: random.below(40),
      complaint: random.below(40),
      silent: random.below(300),
    });
    for (let nth = 0; nth < 40; nth++) {
      const evidence = { with: draw(), without: draw(), before: draw(), others: draw() };
      const posterior = effectPosterior(evidence);
      for (const share of [posterior.helps, posterior.same]) {
        expect(share).toBeGreaterThanOrEqual(0);
        expect(share).toBeLessThanOrEqual(1);
      }
      expect(posterior.gain - posterior.loss).toBeCloseTo(posterior.mean, 9);
      expect(posterior.deviation).toBeGreaterThan(0);
      expect(effectPosterior(evidence)).toEqual(posterior);
    }
  });

  it('changes its sign when the arms change places', () => {
    const [one, other] = [
      counts({ praise: 9, complaint: 4, silent: 12 }),
      counts({ praise: 2, complaint: 6, silent: 7 }),
    ];
    const there = effectPosterior({ with: one, without: other, decided: EVEN });
    const back = effectPosterior({ with: other, without: one, decided: EVEN });
    expect(back.mean).toBeCloseTo(-there.mean, 2);
    expect(back.gain).toBeCloseTo(there.loss, 2);
  });

  it('takes complaints that turn into silence for success (not: for nothing)', () => {
    const others = counts({ praise: 40, complaint: 60, silent: 100 });
    const quiet = effectPosterior({
      with: counts({ complaint: 3, praise: 5, silent: 32 }),
      without: counts({ complaint: 14, praise: 3, silent: 8 }),
      others,
    });
    expect(quiet.helps).toBeGreaterThan(0.95);
    const without = effectPosterior({
      with: counts({ complaint: 3, praise: 5 }),
      without: counts({ complaint: 14, praise: 3 }),
      others,
    });
    expect(quiet.helps).toBeGreaterThan(without.helps);
  });

  it('believes checked sessions sooner than reactions, and a session from before less than one without', () => {
    const checked = effectPosterior({
      with: counts({ success: 8, failure: 2 }),
      without: counts({ success: 3, failure: 7 }),
    });
    const heard = effectPosterior({
      with: counts({ praise: 8, complaint: 2, silent: 10 }),
      without: counts({ praise: 3, complaint: 7, silent: 10 }),
    });
    expect(checked.helps).toBeGreaterThan(heard.helps);
    const shown = counts({ success: 9, failure: 1 });
    const earlier = effectPosterior({
      with: shown,
      without: NO_OUTCOMES,
      before: counts({ success: 2, failure: 8 }),
    });
    const now = effectPosterior({ with: shown, without: counts({ success: 2, failure: 8 }) });
    expect(earlier.helps).toBeGreaterThan(effectPosterior({ with: shown, without: NO_OUTCOMES }).helps);
    expect(now.helps).toBeGreaterThan(earlier.helps);
  });

  it('learns from what was decided about lessons of the same kind', () => {
    const evidence = {
      with: counts({ success: 6, failure: 4 }),
      without: counts({ success: 2, failure: 3 }),
    };
    const helpsAfter = (helpful: number, harmful: number): number =>
      effectPosterior({ ...evidence, decided: { helpful, harmful, noDifference: 0 } }).helps;
    expect(helpsAfter(12, 0)).toBeGreaterThan(helpsAfter(0, 0));
    expect(helpsAfter(0, 12)).toBeLessThan(helpsAfter(0, 0));
  });
});

describe('the mean over tasks', () => {
  it('is surer with more tasks that agree, and less sure where they differ', () => {
    const error = (differences: readonly number[]): number => meanOfTasks(differences)?.standardError ?? 0;
    expect(error([0.5, 0.5, 0.5, 0.5, 0.5, 0.5])).toBeLessThan(error([0.5, 0.5, 0.5]));
    expect(error([1, 0, 1, 0, 1, 0])).toBeGreaterThan(error([0.5, 0.5, 0.5, 0.5, 0.5, 0.5]));
    expect(meanOfTasks([])).toBeUndefined();
  });

  it('decides with few tasks that clearly agree, together with sessions', () => {
    const paired = meanOfTasks([0.6, 0.7, 0.5, 0.6]);
    expect(
      paired && effectPosterior({ with: NO_OUTCOMES, without: NO_OUTCOMES, paired }).helps,
    ).toBeGreaterThan(0.95);
  });
});

it('counts of two parts add up', () => {
  const sum = addOutcomes(counts({ praise: 2, silent: 1 }), counts({ praise: 1, success: 0.5 }), 2);
  expect(sum).toEqual(counts({ praise: 4, silent: 1, success: 1 }));
  expect(countOutcomes(sum)).toBe(6);
});
