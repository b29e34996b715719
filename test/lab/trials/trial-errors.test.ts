import { describe, expect, it, vi } from 'vitest';
import { measureHoldoutAlone } from '../../../lab/measure/trials/holdout-alone.ts';
import { drawLibrary, MIXED } from '../../../lab/measure/trials/known-effects.ts';
import { peekAtCheckpoints, peekAtLibraries, peekAtUseless } from '../../../lab/measure/trials/peeking.ts';
import { runLibrary } from '../../../lab/measure/trials/run-library.ts';
import { isFalse } from '../../../lab/measure/trials/summarise.ts';

vi.setConfig({ testTimeout: 240_000 });

/** Seeds are fixed: these numbers are the same on every machine. `npm run bench:trials` has many more candidates. */
describe('lessons with a known effect', () => {
  it('are promoted when they help by 50 points, and never when they are useless or harmful', async () => {
    const few = MIXED.map((kind) => ({ ...kind, count: Math.ceil(kind.count / 3) }));
    const results = await runLibrary({
      seed: 'fast',
      candidates: drawLibrary(few),
      noise: 'independent',
      roots: 8,
      faults: 0.02,
    });
    const states = (isOf: (effect: number) => boolean): readonly string[] =>
      results.filter(({ candidate }) => isOf(candidate.effect)).map(({ state }) => state);
    expect(new Set(states((effect) => effect >= 0.5))).toEqual(new Set(['live']));
    expect(new Set(states((effect) => effect < 0))).toEqual(new Set(['retired']));
    expect(results.filter(({ candidate, state }) => isFalse(candidate) && state === 'live')).toEqual([]);
    const attempts = results.reduce((sum, one) => sum + one.attempts, 0);
    expect(attempts).toBeLessThanOrEqual(results.length * 2 * 160);
  });

  it('pass less often than promised when they are useless, looked at after every pair', () => {
    expect(peekAtUseless(500, 120, 0.05) / 500).toBeLessThanOrEqual(0.05);
    expect(peekAtLibraries(10, 50, 60).withFalse).toBe(0);
    expect(peekAtCheckpoints(20, 10, 120)).toBeLessThanOrEqual(1);
  });

  it('take hundreds of real sessions where hold-out alone has to show it', () => {
    const { sessions } = measureHoldoutAlone(0.3, 11, 2000);
    expect(sessions).toBeGreaterThan(200);
  });
});
