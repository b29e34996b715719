import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { planUpgrade, upgradeHome } from '../../src/api/upgrade-home.ts';
import { homeAt } from '../../src/config/home.ts';
import { noteHomeVersion } from '../../src/config/home-version.ts';
import { makeHome } from '../support/daemon.ts';

it('an upgrade takes removed settings out of the config, keeps all else, and leaves a copy', () => {
  const made = makeHome({});
  const home = homeAt(made.dir);
  const before =
    '{\n  "gateway": { "port": 4601, "retries": 0 },\n  "train": { "live": { "evaluative": true } }\n}\n';
  writeFileSync(home.configFile, before);
  noteHomeVersion(home, '0.2.0');
  const plan = planUpgrade(home, {});
  expect(plan.removedSettings).toHaveLength(2);
  const { oldConfig } = upgradeHome(home, plan, {});
  expect(JSON.parse(readFileSync(home.configFile, 'utf8'))).toEqual({
    gateway: { port: 4601 },
    train: { live: true },
  });
  expect(readFileSync(oldConfig ?? '', 'utf8')).toBe(before);
  expect(planUpgrade(home, {}).removedSettings).toEqual([]);
  expect(upgradeHome(home, plan, {}).oldConfig).toBeUndefined();
  made.remove();
});
