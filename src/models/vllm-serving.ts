import { hash } from 'node:crypto';
import type { ChatEvent, ChatModel, ChatOptions, ChatRequest } from '../core/chat.ts';
import type { Clock } from '../core/clock.ts';
import { createFailure, errorMessage, type Failure } from '../core/failure.ts';
import type { Exchange } from '../core/upstream.ts';
import { wires } from '../wire/wires.ts';
import { parseBaseUrl } from './base-url.ts';
import { createChatEvents } from './chat-events.ts';
import { createHttpModel } from './http-model.ts';
import { createVllmAdapters, type VllmAdapters, withAdapters } from './vllm-adapters.ts';
import { attemptReply, type RetryOptions, withRetry } from './with-retry.ts';

/** A version of the policy. Without a sampler's checkpoint it is the bare model, which has no adapter. */
interface AdapterVersion {
  readonly version: number;
  readonly sampler: string | undefined;
}

interface VllmServingOptions {
  readonly baseUrl: string;
  readonly key: () => string | undefined;
  /** The base model's name on the server. */
  readonly baseModel: () => Promise<string>;
  /** The policy's name, and what distinguishes this installation from others on the same server. */
  readonly name: string;
  readonly installation: string;
  /** Exports a version's adapter where it is not exported yet, and answers with its folder. */
  readonly folders: { bring(served: AdapterVersion, signal: AbortSignal): Promise<string> };
  readonly exchange: Exchange;
  readonly retry: RetryOptions;
  readonly clock: Clock;
  readonly log: (line: string) => void;
  /** Aborts exports and loads in progress. */
  readonly closing: AbortSignal;
}

/** A vLLM server that answers with the versions' adapters, in place of the engine that trained them. */
export interface VllmServing {
  /** Loads a version where the server does not have it. Undefined when it is ready. */
  load(served: AdapterVersion): Promise<Failure | undefined>;
  /** Whether it was loaded at the last check. */
  isAtHand(served: AdapterVersion): boolean;
  /** Unloads all others, each after its last turn. Returns those that turns still hold. */
  keepOnly(versions: readonly number[]): Promise<readonly number[]>;
  /** Answers a turn with the first version that can be loaded; `answered` gets the version, and why it was not the first. */
  chat(
    wanted: readonly AdapterVersion[],
    answered: (by: AdapterVersion, why: Failure | undefined) => void,
  ): ChatModel;
}

/** Promotions and rollbacks wait for a load. */
const LOAD_MS = 120_000;
const TOO_LATE = createFailure(
  'timeout',
  'vLLM did not load the adapter within two minutes; its log may say why.',
);

export function createVllmServing(options: VllmServingOptions): VllmServing {
  const { baseUrl, key, name, exchange, retry, clock, log } = options;
  const upstream = { wire: 'openai-chat', ...parseBaseUrl(baseUrl, 'openai-chat') } as const;
  const bearer = (secret: string | undefined): Readonly<Record<string, string>> =>
    secret === undefined ? {} : { authorization: `Bearer ${secret}` };
  const access = { kind: 'own', credentials: () => bearer(key()) } as const;
  const model = withRetry(
    createHttpModel({ exchange, wire: wires['openai-chat'], upstream, access, clock }),
    retry,
  );
  const prefix = `instar-${name}-${hash('sha256', options.installation).slice(0, 6)}`;
  const adapters = createVllmAdapters({ exchange, baseUrl, key, name: prefix, log });

  const { load, isLoaded, loadedNow } = createAdapterLoads(options, adapters);
  const isAtHand = ({ version, sampler }: AdapterVersion): boolean =>
    sampler === undefined || isLoaded(version);
  async function* ask(
    served: AdapterVersion,
    { chat: asked, request, given }: VllmTurn,
  ): AsyncGenerator<ChatEvent, VllmRefusal | undefined> {
    const version = served.sampler === undefined ? undefined : served.version;
    const chat = withAdapters({ model: asked, adapters, versionOf: () => version });
    // A loaded adapter is borrowed in the tick in which it was checked.
    const unready = isAtHand(served) ? undefined : await load(served);
    if (unready !== undefined) return { failure: unready, isOfAdapter: !isAway(unready) };
    const failure = yield* attemptReply(chat, request, given);
    if (failure === undefined) return undefined;
    if (failure.kind !== 'not-found' || version === undefined) return { failure, isOfAdapter: false };
    // A restarted server has lost its adapters.
    const lost = await load(served);
    if (lost !== undefined) return { failure: lost, isOfAdapter: !isAway(lost) };
    const again = yield* attemptReply(chat, request, given);
    return again && { failure: again, isOfAdapter: again.kind === 'not-found' };
  }

  return {
    load,
    isAtHand,
    keepOnly: async (versions) => {
      adapters.keepOnly(versions);
      await adapters.settled();
      return loadedNow().filter((version) => !versions.includes(version));
    },
    chat: (wanted, answered) => (request, given) =>
      createChatEvents(given.signal, async function* (signal): AsyncGenerator<ChatEvent, undefined> {
        let why: Failure | undefined;
        for (const served of wanted) {
          const name = served.sampler === undefined ? await options.baseModel() : request.model;
          const chat = underName(request.model, model, () => answered(served, why));
          const turn = { chat, request: { ...request, model: name }, given: { ...given, signal } };
          const refused = yield* ask(served, turn);
          if (refused === undefined) return;
          why ??= refused.failure;
          if (!refused.isOfAdapter) break;
        }
        if (why !== undefined) yield { type: 'failure', failure: why };
      }),
  };
}

/** Brings versions onto the server, and knows which it has. */
function createAdapterLoads({ folders, closing }: VllmServingOptions, adapters: VllmAdapters) {
  const loaded = new Set<number>();
  const loading = new Map<number, Promise<Failure | undefined>>();
  const bring = async (served: AdapterVersion): Promise<Failure | undefined> => {
    try {
      const folder = await folders.bring(served, closing);
      const late = AbortSignal.timeout(LOAD_MS);
      const outcome = await adapters.load(served.version, folder, AbortSignal.any([closing, late]));
      if (!outcome.ok) return late.aborted ? TOO_LATE : outcome.why;
      loaded.add(served.version);
      return undefined;
    } catch (error) {
      return createFailure('overloaded', errorMessage(error));
    }
  };
  /** One load for all waiting turns: after a server restart many ask at once. */
  const load = (served: AdapterVersion): Promise<Failure | undefined> => {
    const { version, sampler } = served;
    if (sampler === undefined) return Promise.resolve(undefined);
    const under = loading.get(version);
    if (under !== undefined) return under;
    const begun = bring(served).finally(() => loading.delete(version));
    loading.set(version, begun);
    return begun;
  };
  const isLoaded = (version: number): boolean => {
    const borrowed = adapters.borrow(version);
    borrowed?.release();
    return borrowed !== undefined;
  };
  return {
    load,
    isLoaded,
    loadedNow: (): readonly number[] => {
      for (const version of loaded) if (!isLoaded(version)) loaded.delete(version);
      return [...loaded];
    },
  };
}

interface VllmTurn {
  readonly chat: ChatModel;
  readonly request: ChatRequest;
  readonly given: ChatOptions;
}

interface VllmRefusal {
  readonly failure: Failure;
  /** The adapter is at fault, not the server or the request: another version may work. */
  readonly isOfAdapter: boolean;
}

const isAway = ({ kind }: Failure): boolean =>
  kind === 'unreachable' || kind === 'timeout' || kind === 'aborted';

/** Puts the requested model name into the reply: adapter names are internal. */
const underName =
  (name: string, model: ChatModel, ended: () => void): ChatModel =>
  (request, options) => ({
    async *[Symbol.asyncIterator]() {
      for await (const event of model(request, options)) {
        if (event.type === 'reply-end') ended();
        yield event.type === 'reply-start' ? { ...event, model: name } : event;
      }
    },
  });
