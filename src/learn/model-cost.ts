import type { ChatRequest } from '../core/chat.ts';
import type { Clock } from '../core/clock.ts';
import type { Budget, Cost } from '../core/learn.ts';
import type { CollectedReply } from './collect-reply.ts';

const MILLION = 1_000_000;

/**
 * The cost of one call by the provider's token counts, else by an estimate of four characters a token. A call that failed
 * before its first event is counted and costs nothing; one that broke off costs what had arrived.
 */
export function modelCallCost(request: ChatRequest, reply: CollectedReply, price: Price): Cost {
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

/** US dollars for a million tokens. */
interface Price {
  readonly input: number;
  readonly output: number;
}

/** The price of a model by its name. Total: an unknown model has a price too. */
export type Prices = (model: string) => Price;

/**
 * The highest list price of each family, rounded up: these figures guard a budget, they are not for billing. The first row
 * whose words all occur in the name applies.
 */
const FAMILIES: readonly (readonly [words: readonly string[], input: number, output: number])[] = [
  [['ollama/'], 0, 0],
  [['lmstudio/'], 0, 0],
  [['claude', 'opus'], 15, 75],
  [['claude', 'sonnet'], 3, 15],
  [['claude', 'haiku'], 1, 5],
  [['gpt', 'nano'], 0.25, 1.5],
  [['gpt', 'mini'], 0.75, 4.5],
  [['gpt-oss'], 0.5, 1],
  [['gpt', '-pro'], 30, 180],
  [['gpt'], 5, 30],
  [['codex'], 5, 30],
  [['o4-mini'], 1.1, 4.4],
  [['o3-mini'], 1.1, 4.4],
  [['o3-pro'], 20, 80],
  [['gemini', 'flash'], 0.5, 3],
  [['gemini'], 4, 18],
  [['grok'], 5, 15],
  [['deepseek'], 2, 4],
  [['kimi'], 1, 4],
  [['qwen'], 2, 6.4],
  [['glm'], 1, 4],
  [['minimax'], 0.5, 2.5],
  [['mistral'], 2, 6],
  [['llama'], 1, 3],
];
const HIGHEST: Price = { input: 15, output: 75 };

/** The table, with configured prices by exact model name taking precedence. */
export function createPrices(own: Readonly<Record<string, Price>> = {}): Prices {
  const known = new Map(Object.entries(own).map(([name, price]) => [name.toLowerCase(), price]));
  return (model) => {
    const name = model.toLowerCase();
    const row = FAMILIES.find(([words]) => words.every((word) => name.includes(word)));
    return known.get(name) ?? (row === undefined ? HIGHEST : { input: row[1], output: row[2] });
  };
}

interface BudgetLimits {
  /** 0 forbids every call. */
  readonly usdPerDay: number;
  readonly clock: Clock;
  /** Spent since the last midnight, before this process started. */
  readonly spent: number;
}

/**
 * A daily limit, by the machine's local calendar. The call that passes the limit is still made, since its cost is known only
 * afterwards; the next one is refused. Setting the clock back does not restore the budget.
 */
export function createBudget({ usdPerDay, clock, spent }: BudgetLimits): Budget {
  let day = midnightBefore(clock.now());
  let usd = spent;
  const startNewDay = (): void => {
    const today = midnightBefore(clock.now());
    if (today <= day) return;
    day = today;
    usd = 0;
  };
  return {
    refusal() {
      startNewDay();
      return usd < usdPerDay
        ? undefined
        : `the learning budget of ${dollars(usdPerDay)} a day is spent (${dollars(usd)}); it resets at midnight`;
    },
    spend(cost) {
      startNewDay();
      if (cost.usd > 0) usd += cost.usd;
    },
  };
}

function midnightBefore(now: number): number {
  const date = new Date(now);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}

const dollars = (usd: number): string => `$${usd.toFixed(2)}`;

/** The first midnight after `now`, by the machine's local calendar: then a new daily budget begins. */
export function nextMidnight(now: number): number {
  const date = new Date(now);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + 1).getTime();
}
