import type { Fact } from '../../core/fact.ts';
import { createRecent } from '../../core/recent.ts';
import { createPrices } from '../../learn/prices.ts';

const MOST_OPEN = 10_000;
const MILLION = 1_000_000;

export interface ServingCost {
  add(fact: Fact): void;
  /** Since the daemon started, at list prices, for comparison with the cost of learning. */
  total(): { readonly usd: number; readonly tokens: number };
}

export function createServingCost(): ServingCost {
  const prices = createPrices();
  const policyOf = createRecent<string, string>(MOST_OPEN);
  let usd = 0;
  let tokens = 0;
  return {
    add: (fact) => {
      if (fact.type === 'turn-start') policyOf.set(fact.turn, fact.policy);
      if (fact.type !== 'turn-end' || fact.usage === undefined) return;
      const { inputTokens, outputTokens } = fact.usage;
      const { input, output } = prices(fact.policy ?? policyOf.get(fact.turn) ?? '');
      tokens += inputTokens + outputTokens;
      usd += (inputTokens * input + outputTokens * output) / MILLION;
    },
    total: () => ({ usd, tokens }),
  };
}
