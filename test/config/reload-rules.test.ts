import { describe, expect, it } from 'vitest';
import { checkConfig } from '../../src/config/check-config.ts';
import { changedPaths, effectTimeOf, planReload, reloadRulePaths } from '../../src/config/reload-rules.ts';
import { settingPaths } from '../../src/config/setting-path.ts';

const configOf = (input: object) => checkConfig(input, { env: {} }).config;
const local = { wire: 'openai-chat', baseUrl: 'http://127.0.0.1:9/v1' };

describe('the table of reload rules', () => {
  it('has a rule for every setting of the schema (a new setting without one fails here)', () => {
    const paths = settingPaths();
    expect(paths.length).toBeGreaterThan(40);
    expect(paths.filter((path) => effectTimeOf(path.split('.')) === undefined)).toEqual([]);
  });

  it('has no rule for a setting that does not exist', () => {
    const stale = reloadRulePaths().filter(
      (rule) => !settingPaths().some((path) => path === rule || path.startsWith(`${rule}.`)),
    );
    expect(stale).toEqual([]);
  });

  it('leaves to the next start only what a process has once: its address, its engine, its record', () => {
    const atStart = reloadRulePaths().filter((path) => effectTimeOf(path.split('.')) === 'at the next start');
    expect(atStart).toEqual([
      'gateway.port',
      'gateway.host',
      'gateway.trustedProxy',
      'train.engine',
      'train.serve',
      'store.url',
    ]);
  });
});

describe('planReload', () => {
  it('uses what can change and keeps what needs a start, also where both changed', () => {
    const running = configOf({ gateway: { port: 1, flows: false }, train: { engine: 'off' } });
    const asked = configOf({
      gateway: { port: 2, flows: true },
      train: {
        engine: { tinker: 'http://127.0.0.1:9', baseModel: 'm' },
        serve: { vllm: 'http://127.0.0.1:8' },
      },
    });
    const { config, applied, restart } = planReload(running, asked);
    expect(applied).toEqual([['gateway', 'flows']]);
    expect(restart).toEqual([
      ['gateway', 'port'],
      ['train', 'engine'],
      ['train', 'serve'],
    ]);
    expect(config.gateway).toMatchObject({ port: 1, flows: true });
    expect(config.train).toEqual(running.train);
    expect(planReload(config, asked).applied).toEqual([]);
    expect(planReload(config, running).restart).toEqual([]);
  });

  it('does not change the configs that it compares', () => {
    const [running, asked] = [configOf({ gateway: { port: 1 } }), configOf({ gateway: { port: 2 } })];
    planReload(running, asked);
    expect([running.gateway.port, asked.gateway.port]).toEqual([1, 2]);
  });

  it('names a new provider once, and the changed member of a known one', () => {
    const one = configOf({ providers: { a: local } });
    const two = configOf({
      providers: { a: { ...local, models: ['m'] }, b: local },
      models: { default: 'b/m' },
    });
    expect(changedPaths(one, two)).toEqual([
      ['providers', 'a', 'models'],
      ['providers', 'b'],
      ['models', 'default'],
    ]);
    expect(planReload(one, configOf({ providers: { a: local }, $schema: './x.json' })).applied).toEqual([]);
  });
});
