import { describe, expect, it } from 'vitest';
import { predictSaving, simulateRouter } from '../../lab/measure/router/simulate-router.ts';
import { FAMILIES } from '../../lab/measure/router/task-families.ts';

const only = (...names: readonly string[]) => FAMILIES.filter(({ name }) => names.includes(name));
const lastShare = (run: Awaited<ReturnType<typeof simulateRouter>>, name: string): number => {
  const last = run.families.find((family) => family.name === name)?.quarters[3];
  return last === undefined ? Number.NaN : last.cheap / last.sessions;
};

/** `npm run bench:router` is the same with 20,000 sessions and intervals. */
describe('the router on sessions with known outcomes', () => {
  it('saves most of what exact knowledge would, within two points of always the strong model', async () => {
    const families = only('rename', 'deadlock');
    const run = await simulateRouter({ seed: 'test', sessions: 2_000, families });
    expect(1 - run.usd / run.usdStrong).toBeGreaterThan(0.7 * predictSaving(families));
    expect((run.good - run.goodStrong) / run.sessions).toBeGreaterThan(-0.02);
    expect(lastShare(run, 'rename')).toBeGreaterThan(0.85);
    expect(lastShare(run, 'deadlock')).toBeLessThan(0.1);
  });

  it('leaves a model that becomes worse', async () => {
    const [family] = only('extraction (drifts)');
    if (family === undefined) throw new Error('no such family');
    const run = await simulateRouter({ seed: 'test', sessions: 1_200, families: [family] });
    expect(run.families[0]?.quarters[1]?.cheap).toBeGreaterThan(200);
    expect(lastShare(run, family.name)).toBeLessThan(0.2);
  });

  it('retires a hint towards the model that fails, by its measured effect', async () => {
    const families = only('migration').map((family) => ({ ...family, strong: 0.95, cheap: 0.75 }));
    const hint = { bias: 0.2, family: 'migration' };
    const run = await simulateRouter({ seed: 'test', sessions: 1_200, families, hint });
    expect(run.retiredAfter).toBeLessThan(900);
    expect(lastShare(run, 'migration')).toBeLessThan(0.2);
  });
});
