import type { ChatModel } from '../core/chat.ts';
import type { Clock } from '../core/clock.ts';
import type { Access, Exchange, Target, Upstream } from '../core/upstream.ts';
import type { Wire, WireName } from '../core/wire.ts';
import { parseBaseUrl } from './base-url.ts';
import { createHttpModel } from './http-model.ts';
import { type RetryOptions, withRetry } from './with-retry.ts';

export interface Provider {
  readonly name: string;
  readonly wires: readonly WireName[];
  readonly baseUrl: string;
  readonly access: Access;
  /** Models it is known to have; not all of them, unless `onlyListed`. */
  readonly models?: readonly string[];
  /** A name that `models` lacks is not asked of it, as with a local server whose models were just counted. */
  readonly onlyListed?: boolean;
}

export interface CatalogueOptions {
  readonly providers: readonly Provider[];
  /** Names of our own for ordered lists of `provider/model`; `default` is what answers when nothing else fits. */
  readonly aliases: Readonly<Record<string, readonly string[]>>;
  /** Answers when there is no provider. */
  readonly welcome: ChatModel;
  readonly exchange: Exchange;
  readonly wires: Readonly<Record<WireName, Wire>>;
  readonly clock: Clock;
  readonly retry: RetryOptions;
}

export interface Catalogue {
  /** The first choice, then what stands in for it; never empty, whatever was asked for. */
  resolve(requested: string | undefined, wire: WireName): readonly Target[];
  /** Every name that can be asked for by that name. */
  list(): readonly { readonly id: string; readonly provider: string }[];
}

/** Which wire a request is translated to when the caller's is not spoken: the plainest first. */
const PREFERRED: readonly WireName[] = ['openai-chat', 'anthropic', 'openai-responses'];

interface Entry {
  readonly provider: Provider;
  readonly upstreams: readonly Upstream[];
  /** The one that callers of other wires are translated to. */
  readonly spoken: Upstream;
}

/** What a name leads to; `model` is undefined where the caller's own name is left as it is. */
interface Choice {
  readonly entry: Entry;
  readonly model: string | undefined;
}

/** Throws when a provider entry cannot be used at all. */
export function createCatalogue(options: CatalogueOptions): Catalogue {
  const entries = options.providers.map(createEntry);
  const byName = new Map(entries.map((entry) => [entry.provider.name, entry]));
  const aliases = new Map(
    Object.entries(options.aliases)
      .map(([alias, names]): [string, readonly Choice[]] => [
        alias,
        names.flatMap((name) => named(name) ?? []),
      ])
      .filter(([, choices]) => choices.length > 0),
  );
  const byDefault = aliases.get('default') ?? [];

  function named(name: string): Choice | undefined {
    const slash = name.indexOf('/');
    const entry = slash > 0 ? byName.get(name.slice(0, slash)) : undefined;
    const model = name.slice(slash + 1);
    return entry === undefined || model === '' ? undefined : { entry, model };
  }

  function listed(name: string): Choice | undefined {
    const entry = entries.find(({ provider }) => provider.models?.includes(name));
    return entry && { entry, model: name };
  }

  /** The caller's own name, left to a provider of its wire; then what the default has for bad days. */
  function untouched(wire: WireName): readonly Choice[] | undefined {
    const takes = ({ provider }: Entry) => provider.wires.includes(wire) && provider.onlyListed !== true;
    const usual = byDefault[0]?.entry;
    if (usual && takes(usual)) return [{ entry: usual, model: undefined }, ...byDefault.slice(1)];
    const entry = entries.find(takes);
    return entry && [{ entry, model: undefined }, ...byDefault];
  }

  function anything(): readonly Choice[] {
    if (byDefault.length > 0) return byDefault;
    const entry = entries.find(({ provider }) => provider.models?.[0] !== undefined) ?? entries[0];
    return entry === undefined ? [] : [{ entry, model: entry.provider.models?.[0] }];
  }

  function choose(requested: string | undefined, wire: WireName): readonly Choice[] {
    if (requested === undefined || requested === '') return anything();
    const alias = aliases.get(requested);
    if (alias) return alias;
    const one = named(requested) ?? listed(requested);
    return one ? [one] : (untouched(wire) ?? anything());
  }

  return {
    resolve: (requested, wire) => {
      const targets = choose(requested, wire).map((choice) => createTarget(options, choice));
      return targets.length > 0 ? targets : [createWelcomeTarget(options.welcome)];
    },
    list: () => {
      if (entries.length === 0) return [{ id: 'instar/welcome', provider: 'instar' }];
      const known = new Map<string, string>();
      for (const [alias, choices] of aliases) known.set(alias, choices[0]?.entry.provider.name ?? '');
      for (const { entry, model } of [...aliases.values()].flat()) add(entry, model);
      for (const entry of entries) for (const model of entry.provider.models ?? []) add(entry, model);
      return [...known].map(([id, provider]) => ({ id, provider }));

      function add({ provider }: Entry, model: string | undefined): void {
        const id = `${provider.name}/${model}`;
        if (!known.has(id)) known.set(id, provider.name);
      }
    },
  };
}

function createEntry(provider: Provider): Entry {
  const upstreams = provider.wires.map((wire) => createUpstream(provider, wire));
  const spoken = PREFERRED.flatMap((wire) => upstreams.filter((upstream) => upstream.wire === wire))[0];
  if (spoken === undefined) throw new Error(`Provider "${provider.name}" speaks no wire.`);
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
  { entry: { provider, upstreams, spoken }, model }: Choice,
): Target {
  const { name, access } = provider;
  const http = { exchange, wire: wires[spoken.wire], upstream: spoken, access, clock };
  const chat = withRetry(createHttpModel(model === undefined ? http : { ...http, model }), retry);
  return { provider: name, model, access, upstreams, chat };
}

const createWelcomeTarget = (welcome: ChatModel): Target => ({
  provider: 'instar',
  model: 'welcome',
  access: { kind: 'open' },
  upstreams: [],
  chat: welcome,
});
