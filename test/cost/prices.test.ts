import { describe, expect, it } from 'vitest';
import { checkConfig } from '../../src/config/check-config.ts';
import { enginePrice, priceRules } from '../../src/config/price-rules.ts';
import { LIST_DATE } from '../../src/cost/list-prices.ts';
import { costOf, createPrices } from '../../src/cost/prices.ts';

const OLLAMA = [{ name: 'ollama', baseUrl: 'http://127.0.0.1:11434/v1' }];
const pricesOf = (input: object, local = OLLAMA) =>
  createPrices(priceRules(checkConfig(input, { env: {} }).config, local));
const https = (host: string, more: object = {}) => ({
  wire: 'openai-chat',
  baseUrl: `https://${host}/v1`,
  keyEnv: 'K',
  ...more,
});

describe('the price of a model', () => {
  it('is the list price of a known model, by its name and date, also at a reseller', () => {
    const prices = pricesOf({
      providers: { openai: https('api.openai.com'), router: https('router.example') },
    });
    expect(prices('openai/gpt-5.2')).toEqual({
      from: 'list',
      price: { input: 1.75, output: 14, cacheRead: 0.175 },
      isLocal: false,
    });
    expect(prices('openai/gpt-5.2-2025-12-11')).toEqual(prices('openai/gpt-5.2'));
    expect(prices('router/anthropic/claude-sonnet-5')).toMatchObject({ price: { input: 2, output: 10 } });
    expect(prices('router/anthropic/Claude-Opus-4.5')).toMatchObject({ price: { input: 5, output: 25 } });
    expect(prices('router/anthropic/claude-opus-4-20250514')).toMatchObject({ price: { input: 15 } });
    expect(LIST_DATE).toMatch(/^20\d\d-\d\d-\d\d$/);
  });

  it('is unknown for a model that no list has (not the highest price of its family)', () => {
    const prices = pricesOf({ providers: { acme: https('api.acme.example') } });
    for (const name of [
      'acme/foo',
      'acme/gpt-99',
      'acme/deepseek-chat',
      'acme/qwen3',
      'acme',
      'nobody/gpt-5.2',
      '',
    ])
      expect(prices(name)).toEqual({ from: 'unknown', isLocal: false });
  });

  it('of open weights is known only at its vendor', () => {
    const prices = pricesOf({ providers: { deepseek: https('api.deepseek.com') } });
    expect(prices('deepseek/deepseek-chat')).toMatchObject({ from: 'list' });
  });

  it('is 0 on loopback, for the embedded policy and for a program with a subscription', () => {
    const vllm = { wire: 'openai-chat', baseUrl: 'http://localhost:8000/v1' };
    const prices = pricesOf({ providers: { vllm } });
    const free = { price: { input: 0, output: 0 }, isLocal: true };
    expect(prices('vllm/gpt-5.2')).toEqual({ from: 'local', ...free });
    expect(prices('ollama/qwen3:8b')).toEqual({ from: 'local', ...free });
    expect(prices('instar/nano@3')).toMatchObject(free);
    expect(prices('command/evolver')).toEqual({ from: 'subscription', ...free });
  });

  it('of an Ollama elsewhere is unknown', () => {
    const prices = pricesOf({}, [{ name: 'ollama', baseUrl: 'http://10.0.0.5:11434/v1' }]);
    expect(prices('ollama/qwen3')).toEqual({ from: 'unknown', isLocal: false });
  });

  it('is what the provider’s entry says, for all models or by name, also on loopback', () => {
    const price = { input: 0.1, output: 0.2 };
    const prices = pricesOf({
      providers: {
        all: https('all.example', { price }),
        some: https('some.example', { price: { 'Big-Model': { ...price, cacheRead: 0.01 } } }),
        proxy: { wire: 'openai-chat', baseUrl: 'http://127.0.0.1:4000/v1', price },
      },
    });
    expect(prices('all/gpt-5.2')).toEqual({ from: 'config', price, isLocal: false });
    expect(prices('some/big-model')).toMatchObject({ from: 'config', price: { cacheRead: 0.01 } });
    expect(prices('some/other')).toMatchObject({ from: 'unknown' });
    expect(prices('proxy/x')).toEqual({ from: 'config', price, isLocal: true });
  });

  it('is refused when it is negative, incomplete or has other members, with the path', () => {
    const problems = (price: object): string => {
      try {
        pricesOf({ providers: { acme: https('acme.example', { price }) } });
        return '';
      } catch (error) {
        return String(error);
      }
    };
    expect(problems({ input: 1 })).toContain('providers.acme.price.output');
    expect(problems({ input: -1, output: 1 })).toContain('providers.acme.price.input');
    expect(problems({ input: 1, output: 1, hourly: 2 })).toContain('hourly');
    expect(problems({ 'gpt-5.2': { input: 1 } })).toContain('output');
  });

  it('of a training server is configured, 0 on loopback, else unknown', () => {
    const train = (engine: object | string) => checkConfig({ train: { engine } }, { env: {} }).config.train;
    const price = { prefill: 0.1, sample: 0.4, train: 0.4 };
    expect(enginePrice(train('nano'))).toEqual({ prefill: 0, sample: 0, train: 0 });
    expect(enginePrice(train({ tinker: 'http://127.0.0.1:9/', baseModel: 'b' }))).toMatchObject({ train: 0 });
    expect(enginePrice(train({ tinker: 'https://t.example/', baseModel: 'b' }))).toBeUndefined();
    expect(enginePrice(train({ tinker: 'https://t.example/', baseModel: 'b', price }))).toEqual(price);
  });
});

describe('the cost of a call', () => {
  const usage = {
    inputTokens: 1_000_000,
    outputTokens: 100_000,
    cacheReadTokens: 600_000,
    cacheWriteTokens: 100_000,
  };

  it('counts cached input at its own price, once (not on top of the input)', () => {
    const price = { input: 10, output: 50, cacheRead: 1, cacheWrite: 12.5 };
    const { usd } = costOf(usage, { from: 'config', price, isLocal: false });
    expect(usd).toBeCloseTo(3 + 0.6 + 1.25 + 5, 10);
  });

  it('counts cached input as input when it has no price of its own', () => {
    const { usd } = costOf(usage, { from: 'config', price: { input: 10, output: 50 }, isLocal: false });
    expect(usd).toBeCloseTo(15, 10);
  });

  it('is tokens alone when the price is unknown', () => {
    expect(costOf(usage, { from: 'unknown', isLocal: false })).toEqual({
      tokens: 1_100_000,
      usd: 0,
      unpriced: 1_100_000,
    });
  });
});
