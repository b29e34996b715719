import { isNearHost } from '../config/address.ts';
import { parseModelRef } from '../config/model-ref.ts';
import { priceRules } from '../config/price-rules.ts';
import { hasOwnKey } from '../config/provider-entry.ts';
import type { Config } from '../config/schema.ts';
import type { ModelPrice, Prices } from '../core/budget.ts';
import { describeJudge, describeWriter } from '../cost/describe-cost.ts';
import { LIST_DATE } from '../cost/list-prices.ts';
import { createPrices } from '../cost/prices.ts';
import { localServerAddresses } from '../models/discover-local.ts';
import { isSmallModel } from '../text/model-size.ts';
import { dollars, plural } from '../text/phrases.ts';
import { type DoctorCheck, passed, warned } from './doctor-check.ts';

type Role = 'evolver' | 'judge';
/** What a role is called for people. */
const ROLE_WORDS: Readonly<Record<Role, string>> = { evolver: 'writer', judge: 'judge' };

interface ConfiguredModel {
  readonly name: string;
  readonly title: string;
  readonly price: ModelPrice;
  readonly onlyFor?: string;
}

/**
 * The model that the daemon uses for a role, according to the config: the role's own, for the evolver else `default` where it is no small one; the
 * first of a list that has a key of its own or a server on this machine or in a private network. Whether it answers is not
 * known here.
 */
function configuredModel(role: Role, config: Config, prices: Prices): ConfiguredModel | undefined {
  const names = role === 'judge' ? [role] : [role, 'default'];
  const alias = names.find((name) => Object.hasOwn(config.models, name));
  const value = alias === undefined ? undefined : config.models[alias];
  if (value === undefined || value === 'off') return undefined;
  const implied = (provider: string) => (alias === role ? {} : { onlyFor: provider });
  if (typeof value === 'object' && 'command' in value) {
    const name = `command/${alias}`;
    return { name, title: value.command, price: prices(name), ...implied(name) };
  }
  for (const name of typeof value === 'string' ? [value] : value) {
    const provider = parseModelRef(name)?.provider ?? '';
    const entry = Object.hasOwn(config.providers, provider) ? config.providers[provider] : undefined;
    const price = prices(name);
    const isOurs =
      entry === undefined || hasOwnKey(entry) || price.isLocal || isNearHost(new URL(entry.baseUrl).hostname);
    const isFit = alias === role || !isSmallModel(name);
    if (provider !== 'instar' && isOurs && isFit) return { name, title: name, price, ...implied(provider) };
  }
  return undefined;
}

const pricesOf = (config: Config, env: NodeJS.ProcessEnv): Prices =>
  createPrices(priceRules(config, localServerAddresses(env)));

/** Who writes lessons with this config, and what that may cost, in a sentence. */
export const describeConfiguredWriter = (config: Config, env: NodeJS.ProcessEnv): string =>
  describeWriter(configuredModel('evolver', config, pricesOf(config, env)), config.learn.budget);

/** The model that a role's own setting names but learning cannot use: callers pay for it with their own keys. */
function unusableModel(role: Role, { models }: Config): string | undefined {
  const value = Object.hasOwn(models, role) ? models[role] : undefined;
  if (value === undefined || value === 'off' || (typeof value === 'object' && 'command' in value))
    return undefined;
  return typeof value === 'string' ? value : value[0];
}

/**
 * Who writes lessons and who judges. `local`: the models of servers that run on this machine; the first one writes lessons when
 * no model is configured.
 */
export function checkLearners(
  config: Config,
  env: NodeJS.ProcessEnv,
  local: readonly { readonly name: string; readonly models: readonly string[] }[],
): readonly DoctorCheck[] {
  const prices = pricesOf(config, env);
  return (['evolver', 'judge'] as const).map((role) => {
    const model =
      configuredModel(role, config, prices) ??
      (role === 'evolver' ? ofServer(config, local, prices) : undefined);
    const unusable = model === undefined ? unusableModel(role, config) : undefined;
    if (unusable === undefined)
      return passed(
        ROLE_WORDS[role],
        role === 'judge' ? describeJudge(model) : describeWriter(model, config.learn.budget),
      );
    const provider = parseModelRef(unusable)?.provider ?? unusable;
    return provider === 'instar'
      ? warned(
          ROLE_WORDS[role],
          `${unusable} only attempts tasks: it is not used`,
          `name another model: models.${role}`,
        )
      : warned(
          ROLE_WORDS[role],
          `${unusable} has no key of its own and is not in a private network, so learning does not use it`,
          `set providers.${provider}.keyEnv to the variable with its key, or name another model: models.${role}`,
        );
  });
}

/** The model that answers when neither a provider nor a model is configured. */
function ofServer(
  { providers, models }: Config,
  local: Parameters<typeof checkLearners>[2],
  prices: Prices,
): ConfiguredModel | undefined {
  const server = local.find((one) => one.models.length > 0);
  const isFree =
    Object.keys(providers).length === 0 &&
    !Object.hasOwn(models, 'evolver') &&
    !Object.hasOwn(models, 'default');
  if (!isFree || server === undefined) return undefined;
  const name = `${server.name}/${server.models[0]}`;
  if (isSmallModel(name)) return undefined;
  return { name, title: name, price: prices(name), onlyFor: server.name };
}

/** Whether the prices of the models for learning, and of the training engine, are known. */
export function checkPrices(config: Config, env: NodeJS.ProcessEnv): readonly DoctorCheck[] {
  const prices = pricesOf(config, env);
  const roles = (['evolver', 'judge'] as const).flatMap((role) => {
    const model = configuredModel(role, config, prices);
    return model === undefined ? [] : [checkModelPrice(role, model, config)];
  });
  return [...roles, ...checkEnginePrice(config)];
}

function checkModelPrice(
  role: Role,
  { name, title, price }: ConfiguredModel,
  { learn }: Config,
): DoctorCheck {
  const check = `price ${ROLE_WORDS[role]}`;
  switch (price.from) {
    case 'subscription':
      return passed(check, `${title}: your subscription; only calls and tokens are counted`);
    case 'local':
      return passed(check, `${title} runs on this machine, at no cost`);
    case 'config':
    case 'list': {
      const { input, output } = price.price;
      const source = price.from === 'list' ? `list price of ${LIST_DATE}` : 'from its entry';
      const figures = `${dollars(input)} input, ${dollars(output)} output per million tokens`;
      return passed(
        check,
        `${title}: ${figures} (${source}); at most ${dollars(learn.budget.usdPerDay)} a day`,
      );
    }
    case 'unknown': {
      const ref = parseModelRef(name);
      const model = JSON.stringify(ref?.model ?? name);
      const limit = `the limit is ${plural(learn.budget.tokensPerDay, 'token')} a day (learn.budget.tokensPerDay)`;
      return warned(
        check,
        `the price of ${title} is not known, so its cost is not shown; ${limit}`,
        `set providers.${ref?.provider ?? name}.price in the config, in US dollars per million tokens: { ${model}: { "input": …, "output": … } }`,
      );
    }
  }
}

function checkEnginePrice({ train }: Config): readonly DoctorCheck[] {
  if (typeof train.engine === 'string' || train.engine.price !== undefined) return [];
  if (createPrices(priceRules({ providers: {}, train }, []))('instar/x').from !== 'unknown') return [];
  return [
    warned(
      'price train',
      `what ${train.engine.baseModel} costs at the training server is not known: it is trained only with a limit of its tokens (schedule.budget.tokensPerDay)`,
      'set train.engine.price in the config, in US dollars per million tokens: { "prefill": …, "sample": …, "train": … }; or schedule.budget.tokensPerDay',
    ),
  ];
}
