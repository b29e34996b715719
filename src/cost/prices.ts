import type { ModelPrice, Price, Prices } from '../core/budget.ts';
import type { Usage } from '../core/chat.ts';
import { findListPrice } from './list-prices.ts';

/** What is known of a provider that decides its prices. Plain data: it is passed to other threads. */
interface ProviderPrices {
  /** The host of its base URL. */
  readonly host?: string;
  /** Its base URL is on loopback: it runs on this machine. */
  readonly isLocal: boolean;
  /** The configured price: one for all its models, or by the model's name. */
  readonly price?: Price | Readonly<Record<string, Price>>;
}

/** By the provider's name. */
export type PriceRules = Readonly<Record<string, ProviderPrices>>;

/** Models that are programs on this machine: `command/ALIAS`. */
const COMMAND = 'command';
const FREE: Price = { input: 0, output: 0 };
const UNKNOWN: ModelPrice = { from: 'unknown', isLocal: false };

/**
 * The price of `provider/model`: what the provider's entry says, 0 on loopback and for a program with a subscription of its
 * own, else the list price, else unknown. A policy's version (`@3`) does not matter.
 */
export function createPrices(rules: PriceRules): Prices {
  return (name) => {
    const slash = name.indexOf('/');
    const provider = slash < 0 ? name : name.slice(0, slash);
    const model = slash < 0 ? '' : name.slice(slash + 1);
    if (provider === COMMAND) return { from: 'subscription', price: FREE, isLocal: true };
    const rule = Object.hasOwn(rules, provider) ? rules[provider] : undefined;
    if (rule === undefined) return UNKNOWN;
    const { isLocal } = rule;
    const configured = configuredPrice(rule.price, model);
    if (configured !== undefined) return { from: 'config', price: configured, isLocal };
    if (isLocal) return { from: 'local', price: FREE, isLocal };
    const listed = findListPrice(model, rule.host);
    return listed === undefined ? UNKNOWN : { from: 'list', price: listed, isLocal };
  };
}

const isPrice = (given: NonNullable<ProviderPrices['price']>): given is Price =>
  typeof given.input === 'number';

function configuredPrice(given: ProviderPrices['price'], model: string): Price | undefined {
  if (given === undefined || isPrice(given)) return given;
  return Object.entries(given).find(([name]) => name.toLowerCase() === model.toLowerCase())?.[1];
}

const MILLION = 1_000_000;

/** The tokens of a call, and their cost where the price is known. The usage's input contains what was cached. */
export function costOf(
  { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 }: Usage,
  price: ModelPrice,
): { readonly tokens: number; readonly usd: number; readonly unpriced: number } {
  const tokens = inputTokens + outputTokens;
  if (price.from === 'unknown') return { tokens, usd: 0, unpriced: tokens };
  const { input, output, cacheRead = input, cacheWrite = input } = price.price;
  const fresh = Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens);
  const usd =
    (fresh * input + cacheReadTokens * cacheRead + cacheWriteTokens * cacheWrite + outputTokens * output) /
    MILLION;
  return { tokens, usd, unpriced: 0 };
}
