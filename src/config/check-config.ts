import { asArray, asObject, asString, isObject } from '../core/json.ts';
import { closestWord } from '../text/closest-word.ts';
import { ConfigError, type Problem } from './config-error.ts';
import { describeIssue, didYouMean, renderPath } from './describe-issue.ts';
import { environmentProviders } from './environment-providers.ts';
import { LOCAL_PROVIDER_NAMES } from './known-providers.ts';
import { parseModelRef } from './model-ref.ts';
import { type Config, configSchema } from './schema.ts';

export interface CheckedConfig {
  readonly config: Config;
  /** Where the providers come from. */
  readonly source: 'file' | 'environment' | 'none';
  /** What a person may want to know, though nothing is wrong. */
  readonly notes: readonly string[];
}

export interface CheckOptions {
  readonly env: NodeJS.ProcessEnv;
  /** The port to listen on when it is not the configured one. */
  readonly port?: number;
}

/** Settings from any value, with providers from the environment when it names none. Throws only `ConfigError`. */
export function checkConfig(input: unknown, options: CheckOptions): CheckedConfig {
  const parsed = configSchema.safeParse(input);
  const ownPort = options.port ?? (parsed.success ? parsed.data.gateway.port : 4600);
  const named = Object.keys(asObject(asObject(input).providers));
  const found = named.length === 0 ? environmentProviders(options.env, ownPort) : undefined;
  const problems: Problem[] = [
    ...(parsed.error?.issues ?? []).flatMap((issue) => describeIssue(issue, input)),
    ...(found?.problems ?? []),
    ...unknownProviders(input, [
      ...(found ? Object.keys(found.providers) : named),
      ...LOCAL_PROVIDER_NAMES.filter((name) => !named.includes(name)),
    ]),
  ];
  if (!parsed.success || problems.length > 0) throw new ConfigError(problems);
  if (!found) return { config: parsed.data, source: 'file', notes: [] };
  const { providers, usual, notes } = found;
  const models = usual === undefined ? parsed.data.models : { default: usual, ...parsed.data.models };
  const source = Object.keys(providers).length > 0 ? 'environment' : 'none';
  return { config: { ...parsed.data, providers, models }, source, notes };
}

/** Read from the raw input, so that an alias is checked even while something else is wrong. */
function unknownProviders(input: unknown, providers: readonly string[]): readonly Problem[] {
  return Object.entries(asObject(asObject(input).models)).flatMap(([alias, value]) => {
    const single = !Array.isArray(value);
    return (single ? [value] : asArray(value)).flatMap((member, index): readonly Problem[] => {
      const ref = isObject(member) ? undefined : parseModelRef(asString(member) ?? '');
      if (ref === undefined || providers.includes(ref.provider)) return [];
      const meant = closestWord(ref.provider, providers);
      return [
        {
          path: renderPath(single ? ['models', alias] : ['models', alias, index]),
          what: `names a provider that is not configured (${JSON.stringify(ref.provider.slice(0, 64))})`,
          mend: meant === undefined ? 'add it under "providers"' : didYouMean(meant),
        },
      ];
    });
  });
}
