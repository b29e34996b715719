import { isLoopbackHost } from '../config/address.ts';
import { KNOWN_PROVIDERS } from '../config/known-providers.ts';
import { parseModelRef } from '../config/model-ref.ts';
import { hasOwnKey } from '../config/provider-key.ts';
import type { Config, ProviderEntry } from '../config/schema.ts';
import { wiresOf } from '../config/wires-of.ts';
import type { WireName } from '../core/wire.ts';

/** Who answers a client of one wire, as far as the config tells. */
export interface Target {
  /** The configured provider; undefined for what is not in the config: local servers, commands, nothing yet. */
  readonly provider?: string;
  /** What it speaks; empty when that is not known. */
  readonly wires: readonly WireName[];
  /**
   * `instar`: callers show Instar's key. `caller`: the client's own credentials pass through to the provider, and
   * Instar's key would be refused.
   */
  readonly credentials: 'instar' | 'caller';
  /** The variable in which users of that provider have their key. */
  readonly keyEnv?: string;
}

/** The target that the gateway would choose for a model's name; undefined stands for a client's own names. */
export function findTarget(config: Config, model: string | undefined, wire: WireName): Target {
  const refs = model === undefined ? [] : refsOf(config, model);
  const [first] = refs;
  const isCommand = model !== undefined && isCommandAlias(config, model);
  if (isCommand) return { wires: [], credentials: 'instar' };
  const name =
    first ??
    (model === undefined ? untouched(config, wire) : (listed(config, model) ?? untouched(config, wire)));
  const entry = name === undefined ? undefined : config.providers[name];
  return name === undefined || entry === undefined
    ? { wires: [], credentials: 'instar' }
    : describe(name, entry);
}

/**
 * The model a client is given by name: what was asked for, else the alias `default`, else what the config lists.
 * Undefined when the config names no model at all.
 */
export function chooseModel(config: Config, asked: string | undefined): string | undefined {
  if (asked !== undefined) return asked;
  if (config.models.default !== undefined) return 'default';
  const forLearning = new Set(['evolver', 'judge']);
  const alias = Object.keys(config.models).find((name) => !forLearning.has(name));
  if (alias !== undefined) return alias;
  for (const [name, { models }] of Object.entries(config.providers)) {
    if (models?.[0] !== undefined) return `${name}/${models[0]}`;
  }
  return Object.keys(config.providers).length === 0 ? 'instar/welcome' : undefined;
}

/** The providers that a name leads to by being an alias or `provider/model`. */
function refsOf(config: Config, model: string): readonly string[] {
  const value = Object.hasOwn(config.models, model) ? config.models[model] : undefined;
  const refs =
    value === undefined ? [model] : typeof value === 'string' ? [value] : 'command' in value ? [] : value;
  return refs.flatMap((ref) => {
    const provider = parseModelRef(ref)?.provider;
    return provider !== undefined && Object.hasOwn(config.providers, provider) ? [provider] : [];
  });
}

function isCommandAlias(config: Config, model: string): boolean {
  const value = Object.hasOwn(config.models, model) ? config.models[model] : undefined;
  return typeof value === 'object' && 'command' in value;
}

const listed = (config: Config, model: string): string | undefined =>
  Object.keys(config.providers).find((name) => config.providers[name]?.models?.includes(model));

/** Names that nobody here knows go to a provider of the caller's wire, and to the default when there is none. */
function untouched(config: Config, wire: WireName): string | undefined {
  const [usual] = refsOf(config, 'default');
  const speaks = (name: string): boolean => {
    const entry = config.providers[name];
    return entry !== undefined && wiresOf(entry).includes(wire);
  };
  if (usual !== undefined && speaks(usual)) return usual;
  const names = Object.keys(config.providers);
  return names.find(speaks) ?? usual ?? names[0];
}

function describe(provider: string, entry: ProviderEntry): Target {
  const isNear = isLoopbackHost(new URL(entry.baseUrl).hostname);
  const credentials = hasOwnKey(entry) || isNear ? 'instar' : 'caller';
  const keyEnv = KNOWN_PROVIDERS.find((known) => known.baseUrl === entry.baseUrl)?.keyEnv;
  return { provider, wires: wiresOf(entry), credentials, ...(keyEnv !== undefined && { keyEnv }) };
}
