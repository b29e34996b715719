import { describe, expect, it } from 'vitest';
import type { ModelPrice } from '../../../src/core/budget.ts';
import { chooseTier, savingOf, type TierQuestion } from '../../../src/overlays/router/choose-tier.ts';

const tier = (weight: number, mean: number) => ({ weight, success: weight * mean });
const question: TierQuestion = {
  session: 's',
  evidence: { cheap: tier(0, 0), strong: tier(0, 0) },
  saving: 0.9,
  pressure: 0,
  bias: 0,
  mayExplore: false,
};
const chosen = (more: Partial<TierQuestion>) => chooseTier({ ...question, ...more }).tier;
/** By 400 sessions of each. */
const measured = (cheap: number, strong: number) => ({ cheap: tier(400, cheap), strong: tier(400, strong) });

describe('chooseTier', () => {
  it('takes the strong model where nothing is measured, unless a hint or the budget says otherwise', () => {
    expect(chosen({})).toBe('strong');
    expect(chosen({ bias: -0.1 })).toBe('cheap');
    expect(chosen({ pressure: 1 })).toBe('cheap');
    expect(chosen({ pressure: 1, bias: 0.2 })).toBe('strong');
  });

  it('takes the cheap model by the lower bound, not by the mean of a few sessions', () => {
    expect(chosen({ evidence: measured(0.85, 0.85) })).toBe('cheap');
    expect(chosen({ evidence: { cheap: tier(9, 0.85), strong: tier(9, 0.85) } })).toBe('strong');
    expect(chosen({ evidence: measured(0.7, 0.85) })).toBe('strong');
  });

  it('has the documented formula: 0.90 against 0.90 by 98 sessions each needs a saving of 0.36', () => {
    // (0.9 · 98 + 1) / 100 for both; the bound is −1.28 · √(2 · 0.892 · 0.108 / 101) = −0.0559; (0.0559 − 0.02) / 0.1 = 0.359.
    const evidence = { cheap: tier(98, 0.9), strong: tier(98, 0.9) };
    expect(chosen({ evidence, saving: 0.365 })).toBe('cheap');
    expect(chosen({ evidence, saving: 0.355 })).toBe('strong');
  });

  it('lets no bias outweigh a difference of 40 points, however large it is told to be', () => {
    const evidence = measured(0.5, 0.9);
    expect(chosen({ evidence, bias: -5, saving: 1 })).toBe('strong');
    expect(chooseTier({ ...question, evidence, bias: -5 }).reason).toContain('bias −0.20');
  });

  it('explores 15 % of the sessions while the evidence is open, 2 % afterwards, none where no outcome comes; always the same ones', () => {
    const share = (more: Partial<TierQuestion>, usual: string): number => {
      const sessions = Array.from({ length: 2_000 }, (_, nth) => `s${nth}`);
      const first = sessions.map((session) => chosen({ mayExplore: true, ...more, session }));
      expect(sessions.map((session) => chosen({ mayExplore: true, ...more, session }))).toEqual(first);
      return first.filter((one) => one !== usual).length / sessions.length;
    };
    expect(share({}, 'strong')).toBeCloseTo(0.15, 1.5);
    expect(share({ evidence: { cheap: tier(9, 0.85), strong: tier(90, 0.85) } }, 'strong')).toBeCloseTo(
      0.15,
      1.5,
    );
    expect(share({ evidence: measured(0.4, 0.9) }, 'strong')).toBeLessThan(0.03);
    expect(share({ evidence: measured(0.4, 0.9) }, 'strong')).toBeGreaterThan(0.01);
    expect(share({ evidence: measured(0.9, 0.9) }, 'cheap')).toBeLessThan(0.03);
    expect(share({ mayExplore: false }, 'strong')).toBe(0);
  });

  it('says what the choice was made of', () => {
    expect(chooseTier({ ...question, evidence: measured(0.7, 0.85) }).reason).toBe(
      'cheap 0.70 (400.0), strong 0.85 (400.0), bound −0.19; saving 0.90 × 0.10, bias +0.00; sum −0.10 against −0.02',
    );
  });
});

describe('savingOf', () => {
  const price = (input: number, output: number): ModelPrice => ({
    from: 'config',
    price: { input, output },
    isLocal: false,
  });

  it('is the part of the price that the cheap model saves, and one half where nobody knows', () => {
    expect(savingOf(price(1, 10), price(2, 20))).toBeCloseTo(0.5);
    expect(savingOf(price(0, 0), price(2, 20))).toBe(1);
    expect(savingOf(price(4, 40), price(2, 20))).toBe(0);
    expect(savingOf({ from: 'unknown', isLocal: false }, price(2, 20))).toBe(0.5);
    expect(savingOf(price(0, 0), price(0, 0))).toBe(0.5);
  });
});
