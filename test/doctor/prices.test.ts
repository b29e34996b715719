import { describe, expect, it } from 'vitest';
import { checkConfig } from '../../src/config/check-config.ts';
import { checkLearners, checkPrices, describeConfiguredWriter } from '../../src/doctor/check-prices.ts';

const acme = { wire: 'openai-chat', baseUrl: 'https://api.acme.example/v1', keyEnv: 'ACME_KEY' };
const openai = { wire: 'openai', baseUrl: 'https://api.openai.com/v1', keyEnv: 'OPENAI_API_KEY' };
const configOf = (input: object) => checkConfig(input, { env: {} }).config;
const check = (input: object) => checkPrices(configOf(input), {});
const writer = (input: object) => describeConfiguredWriter(configOf(input), {});

describe('doctor', () => {
  it('names a learning model without a known price, and the setting that gives it one', () => {
    expect(check({ providers: { acme }, models: { evolver: 'acme/big/foo', judge: 'off' } })).toMatchObject([
      {
        name: 'price writer',
        status: 'warn',
        detail:
          'the price of acme/big/foo is not known, so its cost is not shown; the limit is 500,000 tokens a day (learn.budget.tokensPerDay)',
        fix: 'set providers.acme.price in the config, in US dollars per million tokens: { "big/foo": { "input": …, "output": … } }',
      },
    ]);
  });

  it('is content with a list price, a configured price, a model on this machine and a subscription', () => {
    const vllm = { wire: 'openai-chat', baseUrl: 'http://127.0.0.1:8000/v1' };
    const priced = { ...acme, price: { input: 0.5, output: 2 } };
    const details = (models: object) =>
      check({ providers: { openai, acme: priced, vllm }, models }).map(({ status, detail }) => [
        status,
        detail,
      ]);
    expect(details({ default: 'openai/gpt-5.2', judge: 'acme/foo' })).toEqual([
      [
        'ok',
        'openai/gpt-5.2: $1.75 input, $14.00 output per million tokens (list price of 2026-11-16); at most $1.00 a day',
      ],
      ['ok', 'acme/foo: $0.50 input, $2.00 output per million tokens (from its entry); at most $1.00 a day'],
    ]);
    expect(details({ evolver: 'vllm/qwen', judge: { command: 'claude' } })).toEqual([
      ['ok', 'vllm/qwen runs on this machine, at no cost'],
      ['ok', 'claude: your subscription; only calls and tokens are counted'],
    ]);
  });

  it('says nothing of a default model that learning does not use: callers pay it with their own keys', () => {
    const { keyEnv: _, ...caller } = acme;
    expect(check({ providers: { acme: caller }, models: { default: 'acme/foo' } })).toEqual([]);
  });

  it('names a training server whose price is not known', () => {
    const train = (more: object) => ({ train: { engine: { baseModel: 'b', ...more } } });
    expect(check(train({ tinker: 'https://t.example/' }))).toMatchObject([
      { name: 'price train', status: 'warn', fix: expect.stringContaining('train.engine.price') },
    ]);
    expect(check(train({ tinker: 'http://127.0.0.1:1/' }))).toEqual([]);
    const price = { prefill: 1, sample: 1, train: 1 };
    expect(check(train({ tinker: 'https://t.example/', price }))).toEqual([]);
  });
});

describe('doctor on who learns', () => {
  const { keyEnv: _, ...caller } = acme;
  const box = { wire: 'openai-chat', baseUrl: 'http://gpu-box:8000/v1' };
  const learners = (input: object, local: Parameters<typeof checkLearners>[2] = []) =>
    checkLearners(configOf(input), {}, local).map(({ name, status, detail, fix }) => [
      name,
      status,
      fix ?? detail,
    ]);

  it('names who writes and who judges, also a keyless server of a private network', () => {
    expect(learners({ providers: { box }, models: { evolver: 'box/q', judge: 'box/q' } })).toEqual([
      ['writer', 'ok', expect.stringContaining('written by box/q')],
      ['judge', 'ok', 'box/q judges unclear turns, within the same limit.'],
    ]);
    expect(learners({}, [{ name: 'ollama', models: ['qwen3'] }])).toEqual([
      ['writer', 'ok', expect.stringContaining('written by ollama/qwen3 on this machine')],
      ['judge', 'ok', 'No model judges unclear turns (models.judge names one).'],
    ]);
  });

  it('warns of a named model that learning cannot use, with the setting that changes it', () => {
    expect(learners({ providers: { acme: caller }, models: { judge: 'acme/a' } })).toContainEqual([
      'judge',
      'warn',
      expect.stringContaining('set providers.acme.keyEnv'),
    ]);
  });
});

describe('the sentence of init', () => {
  it('names the first model of a list that has a key, and no model when callers pay', () => {
    const { keyEnv: _, ...caller } = acme;
    expect(
      writer({ providers: { acme: caller, openai }, models: { default: ['acme/a', 'openai/gpt-5.2'] } }),
    ).toContain('written by openai/gpt-5.2, at most $1.00 a day');
    expect(writer({ providers: { acme: caller }, models: { default: 'acme/a' } })).toContain(
      'without a model',
    );
    expect(
      writer({ providers: { openai }, models: { default: 'openai/gpt-5.2', evolver: 'off' } }),
    ).toContain('without a model');
  });
});
