import { describe, expect, it } from 'vitest';
import { checkConfig } from '../../src/config/check-config.ts';
import { readSettingPath } from '../../src/config/edit-config.ts';
import { leafPaths, renderPath, settingAt } from '../../src/config/setting-path.ts';
import { earlierConfigs } from './earlier-config.ts';

const check = (input: object) => checkConfig(input, { env: {} });

describe('a config of the release before', () => {
  const [first = {}] = earlierConfigs;
  const { warnings } = check(first);

  it.each(earlierConfigs)(
    'is read, each setting with its value or with one warning about it (none is an error)',
    (earlier) => {
      const { config, warnings } = check(earlier);
      for (const path of leafPaths(earlier)) {
        const name = renderPath(path);
        const about = warnings.filter((warning) => `${name}.`.startsWith(`${warning.split(' ')[0]}.`));
        const isSame = JSON.stringify(settingAt(config, path)) === JSON.stringify(settingAt(earlier, path));
        expect([name, isSame, about.length]).toEqual([name, about.length === 0, about.length === 0 ? 0 : 1]);
      }
    },
  );

  it('is warned of in sentences that say what holds instead', () => {
    expect(warnings).toContain(
      'gateway.retries is no longer a setting: a request is sent again twice, before its first byte',
    );
    for (const warning of warnings)
      expect(warning).toMatch(/^[\w.]+ (?:is no longer a setting|has no members any more): \S/);
  });

  it('keeps what an object form said: train.live from rewards, learn.compress', () => {
    const live = (value: object) => check({ train: { live: value } }).config.train.live;
    expect([live({ evaluative: true }), live({ evaluative: false, directive: true })]).toEqual([true, false]);
    expect(check({ learn: { compress: { overTokens: 2000 } } }).config.learn.compress).toBe(true);
    expect(check({ train: { live: true }, learn: { compress: true } }).warnings).toEqual([]);
  });

  it('leaves unknown keys errors, also beside a removed one', () => {
    expect(() => check({ gateway: { retries: 3, retires: 3 } })).toThrow('gateway.retires: is not a setting');
  });
});

it('a removed setting that a person names is answered with what holds instead', () => {
  expect(() => readSettingPath('gateway.timeouts.idleMs')).toThrow('is no longer a setting: a provider has');
});
