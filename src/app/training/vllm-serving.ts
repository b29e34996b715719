import { hash } from 'node:crypto';
import type { ChatEvent, ChatModel, ChatOptions, ChatRequest } from '../../core/chat.ts';
import type { Clock } from '../../core/clock.ts';
import { createFailure, type Failure } from '../../core/failure.ts';
import type { Exchange } from '../../core/upstream.ts';
import { attempt } from '../../models/attempt.ts';
import { parseBaseUrl } from '../../models/base-url.ts';
import { createChatEvents } from '../../models/chat-events.ts';
import { createHttpModel } from '../../models/http-model.ts';
import { createVllmAdapters } from '../../models/vllm-adapters.ts';
import { withAdapters } from '../../models/vllm-model.ts';
import { type RetryOptions, withRetry } from '../../models/with-retry.ts';
import type { Served } from '../../train/policy-pointer.ts';
import { wires } from '../../wire/wires.ts';
import type { AdapterFolders } from './adapter-folders.ts';

export interface VllmServingOptions {
  readonly baseUrl: string;
  readonly key: () => string | undefined;
  /** The base model's name there. */
  readonly baseModel: () => Promise<string>;
  /** Of the policy; and what tells this installation from others at the same server. */
  readonly name: string;
  readonly installation: string;
  readonly folders: Pick<AdapterFolders, 'bring'>;
  readonly exchange: Exchange;
  readonly retry: RetryOptions;
  readonly clock: Clock;
  readonly log: (line: string) => void;
  /** Ends what is being exported or loaded. */
  readonly closing: AbortSignal;
}

/** A vLLM that answers with the adapters of versions, in the place of the engine that trained them. */
export interface VllmServing {
  /** Undefined when the version can be asked for. Looks whether the server still has it. */
  load(served: Served): Promise<Failure | undefined>;
  /** Whether it was loaded when last seen. */
  isAtHand(served: Served): boolean;
  /** Lets go of all others, each when its last turn has ended. Answers with those that are held for that. */
  keepOnly(versions: readonly number[]): Promise<readonly number[]>;
  /** A turn by the first of these that can be loaded; `answered` is told who it was, and why it was not the first. */
  chat(wanted: readonly Served[], answered: (by: Served, why: Failure | undefined) => void): ChatModel;
}

/** A move waits for it, and a move back behind that. */
const LOAD_MS = 120_000;
const TOO_LATE = createFailure(
  'timeout',
  'vLLM did not load the adapter within two minutes; its log may say why.',
);

export function createVllmServing(options: VllmServingOptions): VllmServing {
  const { baseUrl, key, name, exchange, retry, clock, log, folders, closing } = options;
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

  const loaded = new Set<number>();
  const loading = new Map<number, Promise<Failure | undefined>>();
  const bring = async (served: Served): Promise<Failure | undefined> => {
    try {
      const folder = await folders.bring(served, closing);
      const late = AbortSignal.timeout(LOAD_MS);
      const outcome = await adapters.load(served.version, folder, AbortSignal.any([closing, late]));
      if (!outcome.isReady) return late.aborted ? TOO_LATE : outcome.failure;
      loaded.add(served.version);
      return undefined;
    } catch (error) {
      return createFailure('overloaded', error instanceof Error ? error.message : String(error));
    }
  };
  /** Once for all who wait for it: a server that was started again is asked by many at the same moment. */
  const load = (served: Served): Promise<Failure | undefined> => {
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
  const isAtHand = ({ version, sampler }: Served): boolean => sampler === undefined || isLoaded(version);
  async function* ask(
    served: Served,
    { chat: asked, request, given }: Turn,
  ): AsyncGenerator<ChatEvent, Refused | undefined> {
    const version = served.sampler === undefined ? undefined : served.version;
    const chat = withAdapters({ model: asked, adapters, versionOf: () => version });
    // What is at hand is borrowed in the moment in which it was seen to be.
    const unready = isAtHand(served) ? undefined : await load(served);
    if (unready !== undefined) return { failure: unready, isOfAdapter: !isAway(unready) };
    const failure = yield* attempt(chat, request, given);
    if (failure === undefined) return undefined;
    if (failure.kind !== 'not-found' || version === undefined) return { failure, isOfAdapter: false };
    // A server that was started again has lost what was loaded.
    const lost = await load(served);
    if (lost !== undefined) return { failure: lost, isOfAdapter: !isAway(lost) };
    const again = yield* attempt(chat, request, given);
    return again && { failure: again, isOfAdapter: again.kind === 'not-found' };
  }

  return {
    load,
    isAtHand,
    keepOnly: async (versions) => {
      adapters.keepOnly(versions);
      await adapters.settled();
      for (const version of loaded) if (!isLoaded(version)) loaded.delete(version);
      return [...loaded].filter((version) => !versions.includes(version));
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

interface Turn {
  readonly chat: ChatModel;
  readonly request: ChatRequest;
  readonly given: ChatOptions;
}

interface Refused {
  readonly failure: Failure;
  /** Others may do better: it is not the server, nor what was asked. */
  readonly isOfAdapter: boolean;
}

const isAway = ({ kind }: Failure): boolean =>
  kind === 'unreachable' || kind === 'timeout' || kind === 'aborted';

/** The name that was asked for comes back: names of adapters are ours alone. */
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
