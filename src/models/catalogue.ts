import { createLruMap, type LruMap } from '../base/lru-map.ts';
import type { ChatModel } from '../core/chat.ts';
import type { Clock } from '../core/clock.ts';
import type { Access, Catalogue, Exchange, Target, Upstream } from '../core/upstream.ts';
import type { Wire, WireName } from '../core/wire.ts';
import { parseBaseUrl } from './base-url.ts';
import { createHttpModel } from './http-model.ts';
import { withTextTools } from './text-tools.ts';
import { type RetryOptions, withRetry } from './with-retry.ts';

export interface Provider {
  readonly name: string;
  readonly wires: readonly WireName[];
  readonly baseUrl: string;
  readonly access: Access;
  /** Some of its models; all of them if `onlyListed`. */
  readonly models?: readonly string[];
  /** It is never asked for a model that `models` lacks, as with a local server whose models were just listed. */
  readonly onlyListed?: boolean;
  /** See `Target.isNear`. */
  readonly isNear?: boolean;
  /** See `Target.writesCalls`. */
  readonly writesCalls?: (model: string) => boolean;
}

interface CatalogueOptions {
  readonly providers: readonly Provider[];
  /** Aliases of ordered lists of `provider/model`; `default` answers when nothing else matches. */
  readonly aliases: Readonly<Record<string, readonly string[]>>;
  /** Aliases of programs on this machine. */
  readonly commands?: Readonly<Record<string, ChatModel>>;
  /** Answers when there is no provider and no policy, or when the policy fails. */
  readonly welcome: ChatModel;
  /** The policy whose weights are trained here, named `instar/NAME`; it answers when there is no provider. */
  readonly policy?: OwnPolicy;
  readonly exchange: Exchange;
  readonly wires: Readonly<Record<WireName, Wire>>;
  readonly clock: Clock;
  readonly retry: RetryOptions;
}

export interface OwnPolicy {
  readonly name: string;
  readonly chat: ChatModel;
  readonly label: (session: string) => string;
  /** The lessons that the weights which answer a session keep without being shown them. */
  readonly remembers: (session: string) => ReadonlySet<string>;
  /** It is called with a key from the config, so callers must send Instar's key. */
  readonly isKeyed?: boolean;
}

/** The order of wires for translation when the provider does not speak the caller's: the simplest first. */
const PREFERRED: readonly WireName[] = ['openai-chat', 'anthropic', 'openai-responses'];

/** Names are chosen by callers, so the cache is bounded in entries and in the length of a name. */
const MOST_NAMES = 512;
const LONGEST_NAME = 256;

interface Entry {
  readonly provider: Provider;
  readonly upstreams: readonly Upstream[];
  /** The upstream that other wires are translated to. */
  readonly spoken: Upstream;
}

/** Throws when a provider entry is invalid. */
export function createCatalogue(options: CatalogueOptions): Catalogue {
  const entries = options.providers.map(createEntry);
  // Beside a provider with credentials the policy needs a key as well: then a request without one is refused unread.
  const isGuarded = options.providers.some(({ access }) => access.kind !== 'open');
  const own = options.policy && createPolicyTarget(options.policy, isGuarded);
  const ownName = `instar/${options.policy?.name}`;
  const byName = new Map(entries.map((entry) => [entry.provider.name, entry]));
  const aliases = new Map<string, readonly Target[]>([
    ...Object.entries(options.commands ?? {}).map(
      ([alias, chat]) => [alias, [createCommandTarget(alias, chat)]] as const,
    ),
    ...Object.entries(options.aliases)
      .map(([alias, names]) => [alias, names.flatMap((name) => named(name) ?? [])] as const)
      .filter(([, targets]) => targets.length > 0),
  ]);
  const byDefault = aliases.get('default') ?? [];

  function named(name: string): Target | undefined {
    if (own !== undefined && name === ownName) return own;
    const slash = name.indexOf('/');
    const entry = slash > 0 ? byName.get(name.slice(0, slash)) : undefined;
    const model = name.slice(slash + 1);
    return entry === undefined || model === '' ? undefined : createTarget(options, entry, model);
  }

  function listed(name: string): Target | undefined {
    const entry = entries.find(({ provider }) => provider.models?.includes(name));
    return entry && createTarget(options, entry, name);
  }

  /** The caller's model name unchanged, at a provider of its wire; then the fallbacks of `default`. */
  function unchanged(wire: WireName): readonly Target[] | undefined {
    const takes = ({ provider }: Entry) => provider.wires.includes(wire) && provider.onlyListed !== true;
    const [first, ...others] = byDefault;
    const usual = first && first.upstreams.length > 0 ? byName.get(first.provider) : undefined;
    if (usual && takes(usual)) return [createTarget(options, usual, undefined), ...others];
    const entry = entries.find(takes);
    return entry && [createTarget(options, entry, undefined), ...byDefault];
  }

  function speaking(wire: WireName): readonly Target[] {
    return entries
      .flatMap((entry) => {
        const rank = rankOf(entry, wire, byDefault[0]?.provider);
        return rank === undefined ? [] : [{ entry, rank }];
      })
      .sort((one, other) => one.rank - other.rank)
      .map(({ entry }) => createTarget(options, entry, undefined));
  }

  function fallback(): readonly Target[] {
    if (byDefault.length > 0) return byDefault;
    const entry = entries.find(({ provider }) => provider.models?.[0] !== undefined) ?? entries[0];
    const welcome = createWelcomeTarget(options.welcome);
    if (entry === undefined) return own === undefined ? [welcome] : [own, welcome];
    return [createTarget(options, entry, entry.provider.models?.[0])];
  }
  const byFallback = fallback();

  const find = rememberNames((requested, wire) => {
    const one = named(requested) ?? listed(requested);
    return one ? [one] : (unchanged(wire) ?? byFallback);
  });
  const kinds = new Set(
    [...options.providers, ...[...aliases.values()].flat(), ...(own === undefined ? [] : [own])].map(
      ({ access }) => access.kind,
    ),
  );
  if (entries.length === 0) kinds.add('open');
  return {
    access: () => kinds,
    speaking,
    resolve: (requested, wire) => {
      if (requested === undefined || requested === '') return byFallback;
      return aliases.get(requested) ?? find(requested, wire);
    },
    list: () => {
      const listed = listNames(options.providers, aliases);
      if (own !== undefined) listed.set(ownName, listed.get(ownName) ?? 'instar');
      if (listed.size === 0 && entries.length === 0) listed.set('instar/welcome', 'instar');
      return [...listed].map(([id, provider]) => ({ id, provider }));
    },
  };
}

type FindTargets = (requested: string, wire: WireName) => readonly Target[];

/** Targets are stateless, so one is shared by all requests for the same name. */
function rememberNames(find: FindTargets): FindTargets {
  const resolved: Readonly<Record<WireName, LruMap<string, readonly Target[]>>> = {
    'openai-chat': createLruMap(MOST_NAMES),
    'openai-responses': createLruMap(MOST_NAMES),
    anthropic: createLruMap(MOST_NAMES),
  };
  return (requested, wire) => {
    let targets = resolved[wire].get(requested);
    if (targets === undefined) {
      targets = find(requested, wire);
      if (requested.length <= LONGEST_NAME) resolved[wire].set(requested, targets);
    }
    return targets;
  };
}

/** The provider of each name: aliases, what they stand for, and the models that providers list. */
function listNames(
  providers: readonly Provider[],
  aliases: ReadonlyMap<string, readonly Target[]>,
): Map<string, string> {
  const listed = new Map<string, string>();
  const add = (id: string, provider: string) => listed.has(id) || listed.set(id, provider);
  for (const [alias, [first]] of aliases) add(alias, first?.provider ?? '');
  for (const { provider, model, upstreams } of [...aliases.values()].flat()) {
    if (upstreams.length > 0) add(`${provider}/${model}`, provider);
  }
  for (const { name, models = [] } of providers) {
    for (const model of models) add(`${name}/${model}`, name);
  }
  return listed;
}

/** How well a provider fits a wire; undefined: not at all. */
function rankOf({ provider }: Entry, wire: WireName, usual: string | undefined): number | undefined {
  const isExact = provider.wires.includes(wire);
  const isKin = wire !== 'anthropic' && provider.wires.some((one) => one !== 'anthropic');
  if (!isExact && !isKin) return undefined;
  return (isExact ? 0 : 2) + (usual === provider.name ? 0 : 1) + (provider.onlyListed === true ? 4 : 0);
}

function createEntry(provider: Provider): Entry {
  const upstreams = provider.wires.map((wire) => createUpstream(provider, wire));
  const spoken = PREFERRED.flatMap((wire) => upstreams.filter((upstream) => upstream.wire === wire))[0];
  if (spoken === undefined) throw new Error(`Provider "${provider.name}" has no wire.`);
  return { provider, upstreams, spoken };
}

function createUpstream({ name, baseUrl }: Provider, wire: WireName): Upstream {
  try {
    return { wire, ...parseBaseUrl(baseUrl, wire) };
  } catch (error) {
    throw new Error(`Provider "${name}": ${error instanceof Error ? error.message : error}`);
  }
}

function createTarget(
  { exchange, wires, clock, retry }: CatalogueOptions,
  { provider: { name, access, isNear = false, writesCalls }, upstreams, spoken }: Entry,
  model: string | undefined,
): Target {
  const http = { exchange, wire: wires[spoken.wire], upstream: spoken, access, clock };
  const own = withRetry(createHttpModel(model === undefined ? http : { ...http, model }), retry);
  const target = { provider: name, model, access, upstreams, isNear };
  if (writesCalls === undefined) return { ...target, chat: own };
  const isOne = (requested: string): boolean => writesCalls(model ?? requested);
  return { ...target, chat: withTextTools(own, isOne), writesCalls: isOne };
}

/** A program spends its user's money, so a caller must send Instar's key, as for a provider with a configured key. */
const createCommandTarget = (alias: string, chat: ChatModel): Target => ({
  provider: 'command',
  model: alias,
  access: { kind: 'own', credentials: () => ({}) },
  upstreams: [],
  chat,
});

const createPolicyTarget = (
  { name, chat, label, remembers, isKeyed = false }: OwnPolicy,
  isGuarded: boolean,
): Target => ({
  provider: 'instar',
  model: name,
  access: isKeyed || isGuarded ? { kind: 'own', credentials: () => ({}) } : { kind: 'open' },
  upstreams: [],
  chat,
  label,
  remembers,
});

const createWelcomeTarget = (welcome: ChatModel): Target => ({
  provider: 'instar',
  model: 'welcome',
  access: { kind: 'open' },
  upstreams: [],
  chat: welcome,
});
