import { createLruMap } from '../base/lru-map.ts';
import { printableName } from '../base/printable.ts';
import type { ModelPrice, Prices, Spending } from '../core/budget.ts';
import type { ChatRequest, Usage } from '../core/chat.ts';
import type { StoredFact } from '../core/fact.ts';
import type { Cost } from '../core/learn.ts';
import { costOf } from '../cost/prices.ts';
import { estimateTokens } from '../text/estimate-tokens.ts';
import type { CollectedReply } from './collect-reply.ts';

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

/** Roles and separators of a message. */
const TOKENS_PER_MESSAGE = 8;

/** The most that a call can use: its input, estimated rather too high, and the longest reply that it allows. */
export function mostOfCall(request: ChatRequest, price: ModelPrice): Partial<Spending> {
  const texts = textsOf(request);
  const inputTokens =
    texts.reduce((sum, text) => sum + estimateTokens(text), 0) +
    TOKENS_PER_MESSAGE * (request.messages.length + 1);
  return { calls: 1, ...costOf({ inputTokens, outputTokens: request.maxTokens ?? 0 }, price) };
}

/**
 * The cost of one call by the provider's token counts, else by an estimate of four characters a token. A call that failed
 * before its first event is counted and costs nothing; one that broke off costs what had arrived.
 */
export function modelCallCost(request: ChatRequest, reply: CollectedReply, price: ModelPrice): Cost {
  const usage = usageOf(request, reply);
  const { usd, unpriced } = costOf(usage, price);
  const { inputTokens, outputTokens } = usage;
  return {
    calls: 1,
    inputTokens,
    outputTokens,
    usd,
    ...(unpriced === 0 ? {} : { unpricedTokens: unpriced }),
  };
}

/** The same as an amount of a budget. */
export const spendingOf = ({
  calls,
  inputTokens,
  outputTokens,
  usd,
  unpricedTokens = 0,
}: Cost): Partial<Spending> => ({
  calls,
  tokens: inputTokens + outputTokens,
  usd,
  unpriced: unpricedTokens,
});

function usageOf(request: ChatRequest, reply: CollectedReply): Usage {
  const characters = textsOf(request).reduce((sum, text) => sum + text.length, 0);
  const estimate = reply.isBegun ? Math.ceil(characters / 4) : 0;
  const inputTokens = validCount(reply.usage?.inputTokens) ?? estimate;
  const outputTokens = validCount(reply.usage?.outputTokens) ?? Math.ceil(reply.produced / 4);
  const cacheReadTokens = validCount(reply.usage?.cacheReadTokens) ?? 0;
  const cacheWriteTokens = validCount(reply.usage?.cacheWriteTokens) ?? 0;
  return { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens };
}

const validCount = (tokens: number | undefined): number | undefined =>
  tokens !== undefined && Number.isFinite(tokens) && tokens >= 0 ? tokens : undefined;

const textsOf = ({ system, messages }: ChatRequest): readonly string[] => [
  ...system.map(({ text }) => text),
  ...messages.flatMap(({ content }) => content.flatMap((part) => (part.type === 'text' ? [part.text] : []))),
];
