import { isDeepStrictEqual } from 'node:util';
import type { ServedPolicy } from '../../train/serve-policy.ts';
import type { Log } from '../base/log.ts';
import { isNearHost } from '../config/address.ts';
import type { Home } from '../config/home.ts';
import { policyName } from '../config/model-ref.ts';
import { callWriters, hasOwnKey, readProviderKey, wiresOf } from '../config/provider-entry.ts';
import type { Config, ProviderEntry } from '../config/schema.ts';
import type { ChatModel } from '../core/chat.ts';
import type { Clock } from '../core/clock.ts';
import { createFailure } from '../core/failure.ts';
import { compact, type JsonObject } from '../core/json.ts';
import { AUTO_MODEL } from '../core/overlay.ts';
import type { Access, Catalogue, Exchange } from '../core/upstream.ts';
import { createCatalogue, type OwnPolicy, type Provider } from '../models/catalogue.ts';
import { createCommandModel } from '../models/command-model.ts';
import { discoverLocal, type LocalProvider } from '../models/discover-local.ts';
import { createWelcomeModel } from '../models/scripted-model.ts';
import type { RetryOptions } from '../models/with-retry.ts';
import { wires } from '../wire/wires.ts';

export interface CatalogueSettings {
  readonly config: Config;
  readonly env: NodeJS.ProcessEnv;
  readonly home: Home;
  readonly exchange: Exchange;
  readonly clock: Clock;
  readonly retry: RetryOptions;
  /** Models implemented in this process. */
  readonly models?: Readonly<Record<string, ChatModel>>;
  readonly policy?: OwnPolicy | undefined;
  readonly log: Log;
}

export interface OpenCatalogue {
  readonly catalogue: Catalogue;
  /** For `status`: the providers and whose credentials they use. */
  describe(): readonly JsonObject[];
  /** The configured providers or models have changed. Requests that run keep their targets. */
  rebuild(): void;
  close(): void;
}

const DISCOVER_EVERY_MS = 30_000;
const COMMAND_TIMEOUT_MS = 300_000;

/** The configured providers and the model servers on this machine, which are discovered again every 30 seconds. */
export async function openCatalogue(settings: CatalogueSettings): Promise<OpenCatalogue> {
  const { config, env, exchange, log } = settings;
  let found = await discoverLocal({ exchange, env });
  const listProviders = (): readonly Provider[] => {
    const configured = Object.entries(config.providers).map(([name, entry]) =>
      createProvider(name, entry, settings),
    );
    const isFree = ({ name, baseUrl }: LocalProvider) =>
      !configured.some((provider) => provider.name === name || provider.baseUrl === baseUrl);
    return [...configured, ...found.filter(isFree).map(createLocalProvider)];
  };
  let providers = listProviders();
  let current = build(providers, settings);
  const rebuild = (): void => {
    providers = listProviders();
    current = build(providers, settings);
  };

  const discover = async () => {
    const now = await discoverLocal({ exchange, env });
    if (isDeepStrictEqual(now, found)) return;
    found = now;
    rebuild();
    log.info(
      { found: found.map(({ name, models }) => `${name} (${models.length} models)`) },
      'local model servers',
    );
  };
  const timer = setInterval(() => void discover(), DISCOVER_EVERY_MS);
  timer.unref();

  return {
    catalogue: {
      resolve: (requested, wire) => current.resolve(requested, wire),
      speaking: (wire) => current.speaking(wire),
      list: () => current.list(),
      access: () => current.access(),
    },
    describe: () => providers.map((provider) => describe(provider)),
    rebuild,
    close: () => clearInterval(timer),
  };
}

function build(
  providers: readonly Provider[],
  { config, env, home, exchange, clock, retry, models = {}, policy }: CatalogueSettings,
): Catalogue {
  const aliases: Record<string, readonly string[]> = {};
  const commands: Record<string, ChatModel> = { ...models };
  for (const [alias, value] of Object.entries(config.models)) {
    if (typeof value === 'string') aliases[alias] = [value];
    else if (!('command' in value)) aliases[alias] = value;
    else {
      const { command } = value;
      commands[alias] = createCommandModel({ command, timeoutMs: COMMAND_TIMEOUT_MS, cwd: home.dir, env });
    }
  }
  // Without the router's choice (see `overlays/router`) the stronger one answers.
  if (config.router !== undefined) aliases[AUTO_MODEL] = [config.router.strong, config.router.cheap];
  const welcome = createWelcomeModel();
  return createCatalogue({
    providers,
    aliases,
    commands,
    welcome,
    exchange,
    wires,
    clock,
    retry,
    ...(policy === undefined ? {} : { policy }),
  });
}

function createProvider(name: string, entry: ProviderEntry, { env, home }: CatalogueSettings): Provider {
  const wireNames = wiresOf(entry);
  const read = () => readProviderKey(entry, { env, homeDir: home.dir });
  const access: Access = hasOwnKey(entry)
    ? { kind: 'own', credentials: () => credentialsOf(read(), entry.baseUrl) }
    : { kind: 'caller' };
  return {
    name,
    wires: wireNames,
    baseUrl: entry.baseUrl,
    access,
    isNear: isNearHost(new URL(entry.baseUrl).hostname),
    ...compact({ writesCalls: callWriters(entry) }),
    ...(entry.models ? { models: entry.models } : {}),
  };
}

/** Anthropic takes its key in `x-api-key`; other providers, on any wire, take a bearer token. */
function credentialsOf(key: string | undefined, baseUrl: string): Readonly<Record<string, string>> {
  if (key === undefined) return {};
  const isAnthropic = new URL(baseUrl).hostname.endsWith('anthropic.com');
  return isAnthropic ? { 'x-api-key': key } : { authorization: `Bearer ${key}`, 'x-api-key': key };
}

const createLocalProvider = ({ name, baseUrl, models }: LocalProvider): Provider => ({
  name,
  baseUrl,
  models,
  wires: ['openai-chat'],
  access: { kind: 'open' },
  isNear: true,
  onlyListed: true,
});

const describe = ({ name, baseUrl, wires: spoken, access, models = [] }: Provider): JsonObject => ({
  name,
  baseUrl,
  wires: [...spoken],
  credentials: access.kind,
  models: [...models],
});

const hasKey = ({ engine, serve }: Config['train']): boolean =>
  (serve ?? (typeof engine === 'object' ? engine : undefined))?.keyEnv !== undefined;

const NOTHING_REMEMBERED: ReadonlySet<string> = new Set();

/** The policy in the model catalogue, which is built before the policy itself can be: until then it answers `overloaded`. */
export function createDeferredPolicy(
  settings: Config['train'],
  served: () => ServedPolicy | undefined,
): OwnPolicy | undefined {
  const name = policyName(settings);
  if (name === undefined) return undefined;
  return {
    name,
    // As for a provider: a caller that makes use of our key needs Instar's key.
    isKeyed: hasKey(settings),
    label: (session) => served()?.label(session) ?? `instar/${name}`,
    remembers: (session) => served()?.remembers(session) ?? NOTHING_REMEMBERED,
    chat: async function* (request, options) {
      const policy = served();
      if (policy === undefined)
        yield { type: 'failure', failure: createFailure('overloaded', 'Instar is starting.') };
      else yield* policy.chat(request, options);
    },
  };
}
