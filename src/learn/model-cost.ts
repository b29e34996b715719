import type { ModelPrice, Spending } from '../core/budget.ts';
import type { ChatRequest, Usage } from '../core/chat.ts';
import type { Cost } from '../core/learn.ts';
import { costOf } from '../cost/prices.ts';
import { estimateTokens } from '../text/estimate-tokens.ts';
import type { CollectedReply } from './collect-reply.ts';

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
