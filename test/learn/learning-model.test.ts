import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { defaultRetryRule } from '../../src/core/retry.ts';
import type { Access } from '../../src/core/upstream.ts';
import { createPrices } from '../../src/cost/prices.ts';
import { createLearningModels, servedBy } from '../../src/learn/learning-model.ts';
import { createCatalogue, type Provider } from '../../src/models/catalogue.ts';
import { createScriptedModel } from '../../src/models/scripted-model.ts';
import { wires } from '../../src/wire/wires.ts';

const KEYED: Access = { kind: 'own', credentials: () => ({}) };
const PROVIDERS = [
  { name: 'keyed', baseUrl: 'https://keyed.example/v1', access: KEYED },
  { name: 'caller', baseUrl: 'https://caller.example/v1', access: { kind: 'caller' } },
  { name: 'local', baseUrl: 'http://127.0.0.1:8000/v1', access: { kind: 'caller' } },
  { name: 'box', baseUrl: 'http://gpu-box:8000/v1', access: { kind: 'caller' }, isNear: true },
] as const;

function modelsOf(
  models: Readonly<Record<string, string | readonly string[] | { readonly command: string }>>,
  providers: readonly Omit<Provider, 'wires'>[] = PROVIDERS,
) {
  const named = Object.entries(models).filter(
    ([, value]) => typeof value === 'string' || Array.isArray(value),
  );
  const catalogue = createCatalogue({
    providers: providers.map((one) => ({ ...one, wires: ['openai-chat'] as const })),
    aliases: Object.fromEntries(named.map(([alias, value]) => [alias, [value].flat().map(String)])),
    commands: Object.fromEntries(
      Object.keys(models)
        .filter((alias) => !named.some(([one]) => one === alias))
        .map((alias) => [alias, createScriptedModel(() => '')]),
    ),
    welcome: createScriptedModel(() => ''),
    exchange: () => ({ resume: () => undefined, abort: () => undefined }),
    wires,
    clock: systemClock,
    retry: { rule: defaultRetryRule, random: Math.random, sleep: async () => undefined },
  });
  const prices = createPrices({
    keyed: { host: 'keyed.example', isLocal: false },
    caller: { host: 'caller.example', isLocal: false },
    local: { host: '127.0.0.1', isLocal: true },
  });
  return createLearningModels({ settings: { models }, catalogue, prices, clock: systemClock });
}

describe('the model that writes lessons', () => {
  it('is shown every session when models.evolver names it', () => {
    const model = modelsOf({ default: 'keyed/a', evolver: 'keyed/b' }).model('evolver');
    expect(model).toEqual({ name: 'keyed/b', title: 'keyed/b', price: { from: 'unknown', isLocal: false } });
  });

  it('is no small model that nobody named for it (and is one that models.evolver names)', () => {
    expect(modelsOf({ default: 'box/qwen2.5-coder:1.5b' }).model('evolver')).toBeUndefined();
    expect(modelsOf({ default: 'box/qwen3:30b-a3b' }).model('evolver')).toMatchObject({ onlyFor: 'box' });
    const named = modelsOf({ default: 'box/qwen3:30b-a3b', evolver: 'box/qwen2.5-coder:1.5b' });
    expect(named.model('evolver')).toMatchObject({ name: 'box/qwen2.5-coder:1.5b' });
  });

  it('is the default model when none is named, for the sessions of its provider alone', () => {
    expect(modelsOf({ default: 'keyed/a' }).model('evolver')).toMatchObject({
      name: 'keyed/a',
      onlyFor: 'keyed',
    });
    const program = modelsOf({ default: { command: 'claude' } }).model('evolver');
    expect(program).toMatchObject({ name: 'command/default', title: 'claude', onlyFor: 'command/default' });
    expect(program?.price.from).toBe('subscription');
    expect(program).not.toHaveProperty('isNear');
  });

  it('is one on this machine without a key, but never one that callers pay with their own keys', () => {
    expect(modelsOf({ default: ['caller/a', 'local/b'] }).model('evolver')).toMatchObject({
      name: 'local/b',
      price: { from: 'local' },
    });
    expect(modelsOf({ default: 'caller/a' }).model('evolver')).toBeUndefined();
    expect(modelsOf({ default: 'keyed/a', evolver: 'off' }).model('evolver')).toBeUndefined();
    expect(modelsOf({ default: 'keyed/a' }).model('judge')).toBeUndefined();
  });

  it('is asked without a key on this machine and in a private network, as judge too', () => {
    const models = modelsOf({ default: 'box/a', judge: 'box/b' });
    expect(models.model('evolver')).toMatchObject({ name: 'box/a', onlyFor: 'box', isNear: true });
    expect(models.model('judge')).toMatchObject({ name: 'box/b' });
    expect(models.unusable('judge')).toBeUndefined();
  });

  it('is never another than the named one: why that is not used is said', () => {
    const models = modelsOf({ default: 'keyed/a', evolver: 'ollama/q', judge: 'caller/b' });
    expect(models.model('evolver')?.name).toBe('ollama/q');
    expect(models.model('judge')).toBeUndefined();
    expect(models.unusable('evolver')).toBe('models.evolver: the server of ollama/q is not running');
    expect(models.unusable('judge')).toContain('caller/b has no key of its own (providers.caller.keyEnv');
  });

  it('is the one of a discovered local server when no model is configured, for its own sessions', () => {
    const models = modelsOf({}, [
      { name: 'ollama', baseUrl: 'http://127.0.0.1:11434/v1', access: { kind: 'open' }, models: ['q', 'r'] },
    ]);
    expect(models.model('evolver')).toMatchObject({ name: 'ollama/q', onlyFor: 'ollama' });
    expect(models.model('judge')).toBeUndefined();
    expect(modelsOf({}).model('evolver')).toBeUndefined();
  });

  it('is not the policy that is trained here, whether or not it runs', () => {
    expect(modelsOf({ default: 'instar/nano' }).model('evolver')).toBeUndefined();
  });

  it('is unreachable while its server is not running (not replaced by another model)', async () => {
    const request = { model: '', system: [], messages: [], tools: [], stream: true };
    const models = modelsOf({ default: 'keyed/a', evolver: 'ollama/q' });
    expect(await models.chat('evolver', request, AbortSignal.timeout(60_000))).toMatchObject([
      { type: 'failure', failure: { kind: 'unreachable', message: expect.stringContaining('not running') } },
    ]);
  });

  it('is compared with who served a turn: the provider, or one of several programs', () => {
    expect(servedBy('openai/gpt-5.2')).toBe('openai');
    expect(servedBy('router/openai/gpt-5.2')).toBe('router');
    expect(servedBy('instar/nano@3')).toBe('instar');
    expect(servedBy('command/default')).not.toBe(servedBy('command/fast'));
  });
});
