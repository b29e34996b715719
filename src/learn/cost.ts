import type { ChatRequest } from '../core/chat.ts';
import type { Cost } from '../core/learn.ts';
import type { Heard } from './hear-reply.ts';
import type { Price } from './prices.ts';

const MILLION = 1_000_000;

export const NO_COST: Cost = { calls: 0, inputTokens: 0, outputTokens: 0, usd: 0 };

export const addCost = (a: Cost, b: Cost): Cost => ({
  calls: a.calls + b.calls,
  inputTokens: a.inputTokens + b.inputTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  usd: a.usd + b.usd,
});

/**
 * The cost of one call by the provider's token counts, else by an estimate of four characters a token. A call that failed
 * before its first event is counted and costs nothing; one that broke off costs what had arrived.
 */
export function costOf(request: ChatRequest, reply: Heard, price: Price): Cost {
  const estimate = reply.isBegun ? Math.ceil(charactersOf(request) / 4) : 0;
  const inputTokens = validCount(reply.usage?.inputTokens) ?? estimate;
  const outputTokens = validCount(reply.usage?.outputTokens) ?? Math.ceil(reply.produced / 4);
  const usd = (inputTokens * price.input + outputTokens * price.output) / MILLION;
  return { calls: 1, inputTokens, outputTokens, usd };
}

const validCount = (tokens: number | undefined): number | undefined =>
  tokens !== undefined && Number.isFinite(tokens) && tokens >= 0 ? tokens : undefined;

function charactersOf({ system, messages }: ChatRequest): number {
  let sum = 0;
  for (const part of system) sum += part.text.length;
  for (const { content } of messages)
    for (const part of content) if (part.type === 'text') sum += part.text.length;
  return sum;
}
