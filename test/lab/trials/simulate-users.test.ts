import { describe, expect, it, vi } from 'vitest';
import { drawLibrary, MIXED } from '../../../lab/measure/trials/known-effects.ts';
import { runLibrary } from '../../../lab/measure/trials/run-library.ts';
import { HALF_SILENT, simulateUser } from '../../../lab/measure/trials/simulate-users.ts';

vi.setConfig({ testTimeout: 240_000 });

const users = (effect: number, count: number) =>
  Array.from({ length: count }, (_, at) =>
    simulateUser({ effect, daysBefore: 30, reactions: HALF_SILENT }, `test/${effect}/${at}`),
  );

/** Seeds are fixed: these numbers are the same on every machine. `npm run bench:trials` has many more. */
describe('simulated people', () => {
  it('get a verdict about a lesson that helps by 50 points within days, and none goes without what they told', () => {
    const results = users(0.5, 12);
    const days = results.map(({ days: waited }) => waited).sort((a, b) => a - b);
    expect(days[6]).toBeLessThanOrEqual(12);
    expect(results.filter(({ outcome }) => outcome === 'harmful')).toEqual([]);
    expect(results.reduce((sum, { toldWithheld }) => sum + toldWithheld, 0)).toBe(0);
    for (const { heldOut, sessions } of results) expect(heldOut / sessions).toBeLessThanOrEqual(0.03);
  });

  it('are asked or told on the date of a lesson that does nothing', () => {
    for (const { days } of users(0, 4)) expect(days).toBeLessThanOrEqual(45);
  });
});

it('practice promotes what helps by 50 points, retires what harms, and stops early', async () => {
  const few = MIXED.map((kind) => ({ ...kind, count: Math.ceil(kind.count / 5) }));
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
  expect(Math.max(...results.map(({ pairs }) => pairs))).toBeLessThanOrEqual(64);
});
