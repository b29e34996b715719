import type { Price } from '../core/budget.ts';
import { isLoopbackHost } from './address.ts';
import { readConfigFile } from './load-config.ts';
import { type Config, configSchema } from './schema.ts';
import { settingAt } from './setting-path.ts';

/** What decides the prices of a provider's models; see `cost/prices`. */
interface ProviderRule {
  readonly host?: string;
  readonly isLocal: boolean;
  readonly price?: Price | Readonly<Record<string, Price>>;
}

/** What the training engine charges for a million tokens. */
interface EnginePrice {
  readonly prefill: number;
  readonly sample: number;
  readonly train: number;
}

const FREE: EnginePrice = { prefill: 0, sample: 0, train: 0 };

/** The price of the training engine: 0 when it is embedded or on loopback; undefined when it is not known. */
export function enginePrice({ engine }: Config['train']): EnginePrice | undefined {
  if (typeof engine === 'string') return FREE;
  return engine.price ?? (isOnLoopback(engine.tinker) ? FREE : undefined);
}

const TOKEN_LIMIT = ['schedule', 'budget', 'tokensPerDay'];

/** Whether a person has chosen how many tokens background jobs may use a day: in the file, or in the program that gave the settings. */
export function hasTokenLimit(config: Pick<Config, 'schedule'>, file: string): boolean {
  if (config.schedule.budget.tokensPerDay !== settingAt(configSchema.parse({}), TOKEN_LIMIT)) return true;
  try {
    return settingAt(readConfigFile(file), TOKEN_LIMIT) !== undefined;
  } catch {
    // A file that cannot be read sets no limit; the settings in force are the ones before it.
    return false;
  }
}

/**
 * The price rules of all providers: those in the config, the model servers on this machine (`local`) unless the config has
 * an entry of that name, and `instar`, the policy in training.
 */
export function priceRules(
  { providers, train }: Pick<Config, 'providers' | 'train'>,
  local: readonly { readonly name: string; readonly baseUrl: string }[],
): Readonly<Record<string, ProviderRule>> {
  const rules: Record<string, ProviderRule> = {};
  for (const { name, baseUrl } of local) rules[name] = ruleOf(baseUrl);
  for (const [name, { baseUrl, price }] of Object.entries(providers))
    rules[name] = { ...ruleOf(baseUrl), ...(price === undefined ? {} : { price }) };
  rules.instar = policyRule(train);
  return rules;
}

/** Its answers come from the engine, or from a server of the user's own. */
function policyRule(train: Config['train']): ProviderRule {
  if (train.serve !== undefined) return ruleOf(train.serve.vllm);
  const price = enginePrice(train);
  const isLocal = typeof train.engine === 'string' || isOnLoopback(train.engine.tinker);
  return price === undefined
    ? { isLocal }
    : { isLocal, price: { input: price.prefill, output: price.sample } };
}

function ruleOf(baseUrl: string): ProviderRule {
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : undefined;
  return host === undefined ? { isLocal: false } : { host, isLocal: isLoopbackHost(host) };
}

const isOnLoopback = (url: string): boolean => ruleOf(url).isLocal;
