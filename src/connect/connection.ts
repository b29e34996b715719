import { isLoopbackHost } from '../config/address.ts';
import { KNOWN_PROVIDERS } from '../config/known-providers.ts';
import { parseModelRef } from '../config/model-ref.ts';
import { hasOwnKey, wiresOf } from '../config/provider-entry.ts';
import type { Config, ProviderEntry } from '../config/schema.ts';
import type { WireName } from '../core/wire.ts';

/** The gateway, as a client is told of it. */
export interface ClientConnection {
  /** `http://127.0.0.1:4600`, no path. */
  readonly url: string;
  /** Instar's key, or words that stand for it where it should not be shown. */
  readonly key: string;
  readonly keyFile: string;
  readonly config: Config;
  /** The model a person asked for. */
  readonly model?: string;
  /** The gateway listens beyond this machine: then even a caller with credentials of its own must show the key. */
  readonly isOpenToOthers: boolean;
}

/** Where a client's files are. */
export interface Surroundings {
  readonly env: NodeJS.ProcessEnv;
  /** The person's home folder. */
  readonly homeDir: string;
  /** A file's text; undefined when there is none. */
  readonly read: (file: string) => string | undefined;
}

/** Header for a gateway that wants its key beside the caller's own credentials. */
export const separateKey = ({ isOpenToOthers, key }: ClientConnection): Readonly<Record<string, string>> =>
  isOpenToOthers ? { 'x-instar-key': key } : {};

/** Who answers a client of one wire, as far as the config tells. */
export interface ConnectTarget {
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
export function findTarget(config: Config, model: string | undefined, wire: WireName): ConnectTarget {
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

function describe(provider: string, entry: ProviderEntry): ConnectTarget {
  const isNear = isLoopbackHost(new URL(entry.baseUrl).hostname);
  const credentials = hasOwnKey(entry) || isNear ? 'instar' : 'caller';
  const keyEnv = KNOWN_PROVIDERS.find((known) => known.baseUrl === entry.baseUrl)?.keyEnv;
  return { provider, wires: wiresOf(entry), credentials, ...(keyEnv !== undefined && { keyEnv }) };
}

/** A line of shell that sets a variable. */
interface Export {
  readonly name: string;
  /** Shell text, quoted. */
  readonly value: string;
}

/**
 * Variables that the makers' own SDKs read. The key is not among them as text: the shell reads it from its file, so
 * that it appears on no screen and in no history.
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
