import { createLruMap } from '../base/lru-map.ts';
import { printableName } from '../base/printable.ts';
import type { Prices } from '../core/budget.ts';
import type { StoredFact } from '../core/fact.ts';
import { costOf } from '../cost/prices.ts';

/** What served turns cost at the prices that are known. Plain data. */
export interface ServedCost {
  readonly tokens: number;
  readonly usd: number;
  /** Of the tokens, those of models whose price is not known. */
  readonly unpricedTokens: number;
}

/** The cost of one model's turns; `other` stands for those that did not fit into the list. */
export interface ServedModelCost extends ServedCost {
  readonly model: string;
}

export interface ServingCost {
  add(stored: StoredFact): void;
  total(): ServedCost;
  models(): readonly ServedModelCost[];
}

const MOST_OPEN = 10_000;
/** Callers choose the names of models: the list is a metric's label, so it is bounded. */
const MOST_MODELS = 20;
const OTHER = 'other';
const NOTHING: ServedCost = { tokens: 0, usd: 0, unpricedTokens: 0 };

/** The turns that ended at `since` or later. */
export function createServingCost(prices: Prices, since: number): ServingCost {
  const policyOf = createLruMap<string, string>(MOST_OPEN);
  const byModel = new Map<string, ServedCost>();
  let sum = NOTHING;
  return {
    add: ({ at, fact }) => {
      if (fact.type === 'turn-start') policyOf.set(fact.turn, fact.policy);
      if (fact.type !== 'turn-end' || fact.usage === undefined || at < since) return;
      const policy = fact.policy ?? policyOf.get(fact.turn) ?? '';
      const { tokens, usd, unpriced } = costOf(fact.usage, prices(policy));
      if (!Number.isFinite(tokens) || !Number.isFinite(usd)) return;
      const cost = { tokens, usd, unpricedTokens: unpriced };
      sum = plus(sum, cost);
      const model = withoutVersion(printableName(policy));
      const label = byModel.has(model) || byModel.size < MOST_MODELS ? model : OTHER;
      byModel.set(label, plus(byModel.get(label) ?? NOTHING, cost));
    },
    total: () => sum,
    models: () => [...byModel].map(([model, cost]) => ({ model, ...cost })),
  };
}

const plus = (a: ServedCost, b: ServedCost): ServedCost => ({
  tokens: a.tokens + b.tokens,
  usd: a.usd + b.usd,
  unpricedTokens: a.unpricedTokens + b.unpricedTokens,
});

/** `instar/nano@3` becomes `instar/nano`: versions are many. */
const withoutVersion = (policy: string): string =>
  policy.startsWith('instar/') ? policy.replace(/@[^@]*$/, '') : policy || 'unknown';
