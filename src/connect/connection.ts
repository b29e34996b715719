import { isLoopbackHost } from '../config/address.ts';
import { KNOWN_PROVIDERS } from '../config/known-providers.ts';
import { parseModelRef } from '../config/model-ref.ts';
import { hasOwnKey, wiresOf } from '../config/provider-entry.ts';
import type { Config, ProviderEntry } from '../config/schema.ts';
import type { WireName } from '../core/wire.ts';

/** What a client needs to know about the gateway. */
export interface ClientConnection {
  /** `http://127.0.0.1:4600`, no path. */
  readonly url: string;
  /** Instar's key, or a placeholder where it must not be shown. */
  readonly key: string;
  readonly keyFile: string;
  readonly config: Config;
  /** The model from `--model`. */
  readonly model?: string;
  /** The models that the running daemon lists; undefined while none runs. */
  readonly served?: readonly string[];
}

/** Where a client finds its files. */
export interface ClientEnvironment {
  readonly env: NodeJS.ProcessEnv;
  /** The user's home folder. */
  readonly homeDir: string;
  /** The text of a file; undefined when it does not exist. */
  readonly read: (file: string) => string | undefined;
}

/**
 * The header with Instar's key, beside the client's own credentials: they change (a subscription's token is renewed), so that they say
 * nobody's name.
 */
export const separateKey = ({ key }: ClientConnection): Readonly<Record<string, string>> => ({
  'x-instar-key': key,
});

/** The provider that answers a client of one wire, as far as the config determines it. */
export interface ConnectTarget {
  /** Undefined for targets outside the config: local servers, commands, or no provider yet. */
  readonly provider?: string;
  /** Its wires; empty when they are not known. */
  readonly wires: readonly WireName[];
  /**
   * `instar`: callers send Instar's key. `caller`: the client's own credentials pass through to the provider, which would
   * reject Instar's key.
   */
  readonly credentials: 'instar' | 'caller';
  /** The usual environment variable for that provider's key. */
  readonly keyEnv?: string;
}

/** The target that the gateway chooses for a model name; undefined stands for a client's own model names. */
export function findTarget(config: Config, model: string | undefined, wire: WireName): ConnectTarget {
  const refs = model === undefined ? [] : refsOf(config, model);
  const [first] = refs;
  const isCommand = model !== undefined && isCommandAlias(config, model);
  if (isCommand) return { wires: [], credentials: 'instar' };
  const name =
    first ??
    (model === undefined
      ? fallbackProvider(config, wire)
      : (listed(config, model) ?? fallbackProvider(config, wire)));
  const entry = name === undefined ? undefined : config.providers[name];
  return name === undefined || entry === undefined
    ? { wires: [], credentials: 'instar' }
    : describe(name, entry);
}

const FOR_LEARNING: ReadonlySet<string> = new Set(['evolver', 'judge']);

/**
 * The model for a client: the requested one, else the alias `default`, else the first one in the config; and when the running
 * daemon does not serve that, the first one that it does. Undefined when there is none.
 */
export function chooseModel({
  config,
  model: requested,
  served,
}: Pick<ClientConnection, 'config' | 'model' | 'served'>): string | undefined {
  if (requested !== undefined) return requested;
  const configured = configuredModel(config);
  if (served === undefined || (configured !== undefined && served.includes(configured))) return configured;
  return served.find((id) => !FOR_LEARNING.has(id) && !isEmbedded(id)) ?? configured;
}

/** The toy policy inside Instar, whatever its engine calls it: good to try Instar with, and no agent's model. */
const isEmbedded = (id: string): boolean => id === 'instar/nano' || id === 'instar/welcome';

/**
 * Why a client is not pointed at Instar: only the embedded policy would answer it. Undefined when another model would. `model`: the one
 * that the client would request, where it keeps no names of its own.
 */
export function whyOnlyEmbedded({
  config,
  model,
  served = [],
}: Pick<ClientConnection, 'config' | 'model' | 'served'>): string | undefined {
  const named = model === undefined ? undefined : config.models[model];
  const first = typeof named === 'string' ? named : Array.isArray(named) ? named[0] : model;
  if (first !== undefined && isEmbedded(first))
    return `${first} is the toy model inside Instar: an agent cannot work with it`;
  const hasOther =
    Object.keys(config.providers).length > 0 ||
    Object.values(config.models).some((value) => typeof value === 'object') ||
    served.some((id) => !isEmbedded(id) && !FOR_LEARNING.has(id));
  return hasOther
    ? undefined
    : 'no model provider is set up yet: only the toy model inside Instar would answer';
}

/** The aliases that are meant for clients, as far as the running daemon serves them. */
export const clientAliases = ({
  config,
  served,
}: Pick<ClientConnection, 'config' | 'served'>): readonly string[] =>
  Object.keys(config.models).filter((name) => !FOR_LEARNING.has(name) && served?.includes(name) !== false);

function configuredModel(config: Config): string | undefined {
  if (config.models.default !== undefined) return 'default';
  const [alias] = clientAliases({ config });
  if (alias !== undefined) return alias;
  for (const [name, { models }] of Object.entries(config.providers)) {
    if (models?.[0] !== undefined) return `${name}/${models[0]}`;
  }
  return undefined;
}

/** The providers of an alias or of `provider/model`. */
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

/** Unknown model names go to a provider of the caller's wire, else to the default. */
function fallbackProvider(config: Config, wire: WireName): string | undefined {
  const [preferred] = refsOf(config, 'default');
  const speaks = (name: string): boolean => {
    const entry = config.providers[name];
    return entry !== undefined && wiresOf(entry).includes(wire);
  };
  if (preferred !== undefined && speaks(preferred)) return preferred;
  const names = Object.keys(config.providers);
  return names.find(speaks) ?? preferred ?? names[0];
}

function describe(provider: string, entry: ProviderEntry): ConnectTarget {
  const isNear = isLoopbackHost(new URL(entry.baseUrl).hostname);
  const credentials = hasOwnKey(entry) || isNear ? 'instar' : 'caller';
  const keyEnv = KNOWN_PROVIDERS.find((known) => known.baseUrl === entry.baseUrl)?.keyEnv;
  return { provider, wires: wiresOf(entry), credentials, ...(keyEnv !== undefined && { keyEnv }) };
}

/** A shell command that sets a variable. */
interface Export {
  readonly name: string;
  /** Quoted for the shell. */
  readonly value: string;
}

/**
 * The environment variables of the official SDKs. The key is not printed: the shell reads it from its file, so that it
 * does not appear on screen or in the history.
 */
export function shellExports(
  { url, keyFile, config, model }: ClientConnection,
  hasKeyVariable: boolean,
): readonly Export[] {
  const key = hasKeyVariable ? '"$INSTAR_KEY"' : `"$(cat ${quote(keyFile)})"`;
  const needsKey = (wire: 'openai-chat' | 'anthropic') =>
    findTarget(config, model, wire).credentials === 'instar';
  return [
    { name: 'OPENAI_BASE_URL', value: quote(`${url}/v1`) },
    ...(needsKey('openai-chat') ? [{ name: 'OPENAI_API_KEY', value: key }] : []),
    { name: 'ANTHROPIC_BASE_URL', value: quote(url) },
    ...(needsKey('anthropic') ? [{ name: 'ANTHROPIC_API_KEY', value: key }] : []),
  ];
}

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
