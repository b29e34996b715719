import { expect } from 'vitest';
import { checkConfig } from '../../../src/config/check-config.ts';
import { enginePrice, priceRules } from '../../../src/config/price-rules.ts';
import { costOf, createPrices } from '../../../src/cost/prices.ts';
import { costOfStep } from '../../../train/step-budget.ts';
import type { SettingProof, SettingProofs } from './setting-proof.ts';

const MILLION = 1_000_000;
/** A million tokens of each sort: fresh input, input from the cache, input into the cache, output. */
const USAGE = {
  inputTokens: 3 * MILLION,
  outputTokens: MILLION,
  cacheReadTokens: MILLION,
  cacheWriteTokens: MILLION,
};

/** The price of a million of each sort, and the whole cost when one of them is changed to 100. */
const PRICES = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4 } as const;
const WHOLE = 10;

function dollarsFor(price: object): number {
  const entry = { wire: 'openai', baseUrl: 'https://models.example/v1', keyEnv: 'P_KEY', price };
  const { config } = checkConfig({ providers: { p: entry } }, { env: {} });
  return costOf(USAGE, createPrices(priceRules(config, []))('p/m')).usd;
}

/** What a training step costs that reads, samples and trains on a million tokens. */
async function dollarsForStep(price: object): Promise<number> {
  const engine = { tinker: 'https://train.example', baseModel: 'acme/small-1', price };
  const { config } = checkConfig({ train: { engine } }, { env: {} });
  return costOfStep({ prefill: MILLION, sample: MILLION, train: MILLION }, enginePrice(config.train)).usd;
}

export function createPriceProofs(): SettingProofs {
  const names = Object.keys(PRICES) as (keyof typeof PRICES)[];
  const proof = (name: keyof typeof PRICES, priced: (price: object) => object): SettingProof => ({
    acts: async () => {
      const costs = [PRICES, { ...PRICES, [name]: 100 }].map((price) => dollarsFor(priced(price)));
      expect(costs).toEqual([WHOLE, WHOLE - PRICES[name] + 100]);
    },
  });
  const STEP = { prefill: 1, sample: 2, train: 3 } as const;
  return {
    ...Object.fromEntries(names.map((name) => [`providers.*.price.${name}`, proof(name, (price) => price)])),
    ...Object.fromEntries(
      names.map((name) => [
        `providers.*.price.*.${name}`,
        proof(name, (price) => ({ m: price, other: PRICES })),
      ]),
    ),
    ...Object.fromEntries(
      (Object.keys(STEP) as (keyof typeof STEP)[]).map((name) => [
        `train.engine.price.${name}`,
        {
          acts: async () =>
            expect([await dollarsForStep(STEP), await dollarsForStep({ ...STEP, [name]: 100 })]).toEqual([
              6,
              6 - STEP[name] + 100,
            ]),
        },
      ]),
    ),
  };
}
