import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { asArray, asObject } from '../../src/core/json.ts';
import { createTemporaryFolder, runInProcess } from './run-cli.ts';

let folder: ReturnType<typeof createTemporaryFolder>;
beforeEach(() => {
  folder = createTemporaryFolder();
});
afterEach(() => folder.remove());

const configure = (schedule: object): void =>
  writeFileSync(path.join(folder.dir, 'config.json'), JSON.stringify({ schedule }), { mode: 0o600 });
const run = (...args: string[]) => runInProcess(['schedule', ...args, '--home', folder.dir]);

describe('instar schedule', () => {
  it('lists each signal with its reason and what it can detect, without a daemon', async () => {
    configure({ sleep: '00:00-24:00', budget: { tokensPerDay: 7 } });
    const { stdout, code } = await run('status', '--json');
    expect(code).toBe(0);
    const schedule = asObject(JSON.parse(stdout));
    expect(schedule.state).toBe('off');
    const [sleep] = asArray(schedule.signals).map(asObject);
    expect(sleep).toMatchObject({ source: 'sleep', state: 'away' });
    expect(String(sleep?.sees)).toContain('hours');
    expect(asObject(schedule.budget).left).toMatchObject({ tokens: 7 });
  });

  it('shows the same as text, and writes nothing into the home', async () => {
    const { stdout, code } = await run('status');
    expect(code).toBe(0);
    expect(stdout).toContain('library-consolidation');
    expect(stdout).toContain('next window');
    expect(existsSync(path.join(folder.dir, 'instar.sqlite'))).toBe(false);
  });

  it('prints when the next window opens and why, or that no window is planned', async () => {
    configure({ sleep: '23:00-07:00' });
    const planned = asObject(asObject(JSON.parse((await run('next', '--json')).stdout)).next);
    expect(Number.isFinite(Date.parse(String(planned.from)))).toBe(true);
    const { windows } = asObject(JSON.parse((await run('next', '--json')).stdout));
    expect(asArray(windows).map(asObject)[0]).toMatchObject({ for: ['library-consolidation'] });
    configure({ sleep: 'off' });
    const unplanned = asObject(asObject(JSON.parse((await run('next', '--json')).stdout)).next);
    expect(unplanned.from).toBeUndefined();
    expect(String(unplanned.why)).toContain('no planned window');
  });

  it('takes hours by weekday, and refuses hours that end when they begin', async () => {
    configure({ sleep: 'mon-fri 23:00-07:00, sat,sun 01:00-09:00' });
    expect((await run('next', '--json')).code).toBe(0);
    configure({ sleep: '07:00-07:00' });
    const refused = await run('next', '--json');
    expect(refused.code).not.toBe(0);
    expect(refused.stdout).toContain('00:00-24:00');
  });
});
