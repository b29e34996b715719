import { setMaxListeners } from 'node:events';
import type { Random } from '../../src/base/random.ts';
import type { Clock } from '../../src/core/clock.ts';
import { asArray, asNumber, asObject, asString, type JsonObject } from '../../src/core/json.ts';
import { type EngineProfile, type LossKind, type StepInput, TrainingError } from '../../src/core/training.ts';
import { createAwaitFuture } from './await-future.ts';
import { withIsolatedSamplers } from './isolated-samplers.ts';
import {
  createPost,
  DEFAULT_TIMINGS,
  jsonCall,
  type Post,
  type PostOutcome,
  type TinkerTimings,
} from './post.ts';
import { PROFILES, type ProfileName, type ServerTraits } from './profiles.ts';
import { createRequestLimiter } from './request-limiter.ts';
import { runSelfTest, type SelfTestReport } from './self-test.ts';
import { sendRequest, type TinkerConnection } from './send-request.ts';
import { explainRefusal } from './server-replies.ts';
import { createTinkerEngine, type TinkerEngine, type TinkerEngineParts } from './tinker-engine.ts';
import { openTokenExchange } from './token-exchange.ts';
import { CHUNK_LIMITS, encodeTrainCall, type WireKind } from './train-messages.ts';
import { createTransport, type Transport } from './transport.ts';

export interface ConnectTinkerOptions {
  /** Without `/api/v1`. */
  readonly url: string;
  readonly key?: string;
  readonly baseModel: string;
  /** `generic` by default: the wire format is detected, the rest is as in Tinker. */
  readonly profile?: ProfileName | ServerTraits;
  /** The losses that will be used: connecting fails when the server lacks one. */
  readonly losses?: readonly LossKind[];
  /** False: no self-test. */
  readonly selfTest?: false | { readonly prompt: readonly number[] };
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  readonly random: Random;
  readonly log?: (line: string) => void;
  readonly pace?: Partial<TinkerTimings>;
  /** Limit of one answer. */
  readonly mostBytes?: number;
}

const MOST_BYTES = 256 * 2 ** 20;
const TRAINING = { count: 64, bytes: 50_000_000 };
const SAMPLING = { count: 400, bytes: 10 * 2 ** 20 };
const RESULTS = { count: 64, bytes: 50 * 2 ** 20 };
/** Every vocabulary has these ids. */
const PROMPT = [5, 6, 7, 8, 9, 10, 11, 12];
const TEST_RANK = 8;
const DEFAULT_LOSSES: readonly LossKind[] = ['importance_sampling'];
/** Some servers choose the wire format by it. */
const SDK_VERSION = '0.36.0';
/** A setting of servers that are as new as this version: they read what it added to training requests. */
const NEWER_SETTING = 'custom_loss_server_side';
/** A heartbeat that is not answered by then has failed; the next one follows. */
const HEARTBEAT_MS = 10_000;

/**
 * Connects to a server that speaks the Tinker protocol, detects its wire format, and tests whether it computes what it
 * claims. Rejects with a TrainingError; then nothing is left running.
 */
export async function connectTinker(options: ConnectTinkerOptions): Promise<TinkerEngine> {
  checkOptions(options);
  const { losses = DEFAULT_LOSSES, profile: wanted = 'generic' } = options;
  const traits = typeof wanted === 'string' ? PROFILES[wanted] : wanted;
  const missing = losses.filter((loss) => !traits.losses.includes(loss));
  if (missing.length > 0) throw new TrainingError('user', `${traits.name} has no loss ${missing.join(', ')}`);

  // fetch would put the key into its error message.
  if (options.key !== undefined && !/^[\x21-\x7e]+$/.test(options.key))
    throw new TrainingError('user', 'the key has characters that are not allowed in a header');

  const { connection, config, close } = await openConnection(options, traits);
  const createsByLoading = config.create_model_via_load_weights === true;
  const parts = {
    wiring: connection,
    counts: { models: 0, samplers: 0 },
    createsByLoading,
    selfTest: undefined,
    close,
  };
  try {
    const prompt = (options.selfTest || undefined)?.prompt ?? PROMPT;
    if (traits.wire === undefined) {
      const wire = await probeWire(parts, prompt);
      parts.wiring = { ...connection, profile: { ...connection.profile, wire } };
    }
    const selfTest = options.selfTest === false ? undefined : await testServer(parts, losses, prompt);
    const engine = createTinkerEngine({ ...parts, selfTest });
    return traits.samplesInPlace ? withIsolatedSamplers(engine) : engine;
  } catch (error) {
    close();
    throw error;
  }
}

interface OpenedConnection {
  readonly connection: TinkerConnection;
  /** The server's settings for its clients. */
  readonly config: JsonObject;
  close(): void;
}

/** A session with the server. The wire format is the profile's, or a guess. */
async function openConnection(
  options: ConnectTinkerOptions,
  traits: ServerTraits,
): Promise<OpenedConnection> {
  const { url, key, baseModel, clock, random, log = () => undefined, mostBytes = MOST_BYTES } = options;
  const pace: TinkerTimings = { ...DEFAULT_TIMINGS, ...options.pace };
  const closing = new AbortController();
  const { signal } = closing;
  // Every request in progress listens to it.
  setMaxListeners(0, signal);
  const transport = createTransport({ url, key, fetch: options.fetch, clock, mostBytes });
  const keyed = { transport, pace, clock, random: random.next, log };
  const postKeyed = createPost(keyed);
  // Unique: time and a random number separate processes, a counter separates requests.
  const start = `instar-${clock.now().toString(36)}-${random.below(2 ** 48).toString(36)}`;
  let keys = 0;
  const nextKey = (route: string): string => `${start}-${keys++}-${route}`;

  const config = await readClientConfig(postKeyed, nextKey, signal);
  const exchange = { transport, post: postKeyed, clock, nextKey, closing: signal, log };
  const shared =
    config.pjwt_auth_enabled === true ? { ...keyed, transport: await openTokenExchange(exchange) } : keyed;
  const post = createPost(shared);
  const contextLength = await readContextLength(post, baseModel, nextKey, signal);
  const session = await openTinkerSession({
    ...shared,
    post,
    key: nextKey('create_session'),
    closing: signal,
  });
  const connection: TinkerConnection = {
    profile: {
      name: traits.name,
      baseModel,
      wire: traits.wire ?? 'json',
      losses: traits.losses,
      reduction: traits.reduction,
      learningRate: traits.learningRate,
      contextLength: contextLength ?? traits.contextLength,
      inputs: traits.inputs,
      readsTypedConfig: traits.readsTypedConfig ?? NEWER_SETTING in config,
    },
    traits,
    session: session.id,
    post,
    awaitFuture: createAwaitFuture({ ...shared, results: createRequestLimiter(RESULTS) }),
    chunks: chunksOf(config),
    training: createRequestLimiter(TRAINING),
    sampling: createRequestLimiter(SAMPLING),
    pace,
    clock,
    closing: signal,
    nextKey,
    log,
  };
  const close = (): void => {
    session.close();
    closing.abort();
  };
  return { connection, config, close };
}

/** With a model of its own, which is closed again. */
async function probeWire(parts: TinkerEngineParts, prompt: readonly number[]): Promise<WireKind> {
  const { wiring } = parts;
  const model = await createTinkerEngine(parts).createModel({ rank: TEST_RANK, seed: 0 });
  const wire = await findWire(wiring, model.id, prompt);
  await model.close();
  wiring.log(`the server takes ${wire}`);
  return wire;
}

async function testServer(
  parts: TinkerEngineParts,
  losses: readonly LossKind[],
  prompt: readonly number[],
): Promise<SelfTestReport> {
  const { profile, traits, closing, log } = parts.wiring;
  const engine = createTinkerEngine(parts);
  const model = await engine.createModel({ rank: TEST_RANK, seed: 0 });
  const sampler = await engine.openSampler(undefined);
  const report = await runSelfTest({
    model,
    sampler,
    losses,
    reduction: profile.reduction,
    tolerance: traits.tolerance,
    prompt,
    signal: closing,
    log,
  });
  await sampler.close();
  await model.close();
  return report;
}

const NEEDED: Readonly<Record<string, string>> = {
  url: 'the address of the server, such as http://127.0.0.1:8000',
  baseModel: 'the name of the model to train',
  fetch: 'the function fetch',
  clock: 'a clock, such as { now: Date.now, monotonic: () => performance.now() }',
  random:
    'a source of random numbers, such as { next: Math.random, below: (n) => Math.floor(Math.random() * n) }',
};
const isFilledText = (value: unknown): boolean => typeof value === 'string' && value.trim() !== '';

/** For callers without types: a missing option would be met as a retry without end. */
function checkOptions(options: ConnectTinkerOptions): void {
  const { url, baseModel, fetch, clock, random, profile } = options ?? {};
  const isThere: Readonly<Record<string, boolean>> = {
    url: isFilledText(url),
    baseModel: isFilledText(baseModel),
    fetch: typeof fetch === 'function',
    clock: typeof clock?.now === 'function' && typeof clock.monotonic === 'function',
    random: typeof random?.next === 'function' && typeof random.below === 'function',
  };
  const missing = Object.keys(NEEDED).filter((name) => isThere[name] !== true);
  if (missing.length > 0) {
    const wanted = missing.map((name) => `${name} (${NEEDED[name]})`).join(', ');
    throw new TrainingError('user', `connectTinker needs ${wanted}`);
  }
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (address?.protocol !== 'http:' && address?.protocol !== 'https:')
    throw new TrainingError('user', `connectTinker needs a url that begins with http:// or https://`);
  if (typeof profile === 'string' && !Object.hasOwn(PROFILES, profile))
    throw new TrainingError(
      'user',
      `there is no profile ${profile}; there are ${Object.keys(PROFILES).join(', ')}`,
    );
}

function chunksOf(config: JsonObject): typeof CHUNK_LIMITS {
  const atLeastOne = (value: number | undefined, most: number): number =>
    value === undefined || value < 1 ? most : Math.min(value, most);
  return {
    data: atLeastOne(asNumber(config.fwdbwd_max_chunk_len), CHUNK_LIMITS.data),
    bytes: atLeastOne(asNumber(config.fwdbwd_max_chunk_bytes_count), CHUNK_LIMITS.bytes),
  };
}

/** The server's settings for its clients; empty when it has none. */
async function readClientConfig(
  post: Post,
  nextKey: (route: string) => string,
  signal: AbortSignal,
): Promise<JsonObject> {
  const call = jsonCall('client/config', { sdk_version: SDK_VERSION });
  return bodyIn(await post({ call, key: nextKey('client/config'), signal }));
}

/** Undefined when the server does not report one. Rejects when it cannot be reached or does not have the model. */
async function readContextLength(
  post: Post,
  baseModel: string,
  nextKey: (route: string) => string,
  signal: AbortSignal,
): Promise<number | undefined> {
  const route = 'get_server_capabilities';
  const call = { route, method: 'GET', type: 'application/json', bytes: new Uint8Array(0) } as const;
  const capabilities = bodyIn(await post({ call, key: nextKey(route), signal }));
  const models = asArray(capabilities.supported_models).map(asObject);
  const names = models.flatMap((model) => asString(model.model_name) ?? []);
  const own = models.find((model) => model.model_name === baseModel);
  if (own === undefined && names.length > 0)
    throw new TrainingError(
      'user',
      `the server has no model ${baseModel}; it has ${names.slice(0, 20).join(', ')}`,
    );
  return asNumber(own?.max_context_length);
}

/** A server without the route has no settings; any other refusal, such as of our key, is an error. */
function bodyIn(outcome: PostOutcome): JsonObject {
  if (outcome.kind === 'answered') return outcome.body;
  if (outcome.kind === 'aborted') throw new TrainingError('unknown', 'the connection was closed');
  if (outcome.kind === 'refused' && [404, 405, 422].includes(outcome.status)) return {};
  throw outcome.error;
}

/** A session with a server. Its models and samplers last as long as its heartbeats. */
interface TinkerSession {
  readonly id: string;
  close(): void;
}

interface TinkerSessionOptions {
  readonly transport: Transport;
  readonly post: Post;
  readonly pace: TinkerTimings;
  readonly clock: Clock;
  readonly key: string;
  readonly closing: AbortSignal;
  readonly log: (line: string) => void;
}

async function openTinkerSession(options: TinkerSessionOptions): Promise<TinkerSession> {
  const { transport, post, pace, clock, key, closing, log } = options;
  const call = jsonCall('create_session', {
    tags: ['instar'],
    user_metadata: {},
    sdk_version: SDK_VERSION,
    type: 'create_session',
  });
  const made = await post({ call, key, signal: closing });
  if (made.kind === 'aborted') throw new TrainingError('unknown', 'the connection was closed');
  if (made.kind !== 'answered') throw made.error;
  const id = asString(made.body.session_id);
  if (id === undefined || id === '')
    throw new TrainingError('server', 'create_session: the answer names no session');
  for (const name of ['info_message', 'warning_message', 'error_message']) {
    const message = asString(made.body[name]);
    if (message !== undefined) log(`the server says: ${message.slice(0, 500)}`);
  }

  let beatAt = clock.monotonic();
  let isBeating = false;
  let wasSilent = false;
  const beat = async (): Promise<void> => {
    if (isBeating) return;
    isBeating = true;
    const heartbeat = jsonCall('session_heartbeat', { session_id: id, type: 'session_heartbeat' });
    const timeoutMs = Math.min(pace.requestMs, HEARTBEAT_MS);
    const reply = await transport.send({ ...heartbeat, timeoutMs }, closing);
    isBeating = false;
    if (reply.kind === 'answer' && reply.status < 300) {
      if (wasSilent) log('heartbeats succeed again');
      wasSilent = false;
      beatAt = clock.monotonic();
    } else if (reply.kind === 'answer' && (reply.status === 404 || reply.status === 410)) {
      clearInterval(timer);
      log(`the session is over: ${explainRefusal(reply).message}`);
    } else if (!wasSilent && clock.monotonic() - beatAt >= pace.silenceMs && !closing.aborted) {
      wasSilent = true;
      log(`no heartbeat succeeded for ${Math.round((clock.monotonic() - beatAt) / 1000)} s`);
    }
  };
  // The timer must not keep the process alive.
  const timer = setInterval(() => void beat(), pace.heartbeatMs).unref();
  return { id, close: () => clearInterval(timer) };
}

/** Statuses of servers that do not read this format or have no such route. */
const OTHER_WIRE = new Set([404, 405, 415, 422]);
const WIRES: readonly WireKind[] = ['json', 'protobuf'];

/**
 * Which of the two wire formats a server takes, detected by sending a forward to a new model. The second is tried only when
 * the first was refused for its format.
 */
async function findWire(
  wiring: TinkerConnection,
  modelId: string,
  tokens: readonly number[],
): Promise<WireKind> {
  const datum = { tokens, targets: tokens, weights: tokens.map(() => 1) };
  const input: StepInput = { data: [datum], loss: 'cross_entropy' };
  const reasons: string[] = [];
  for (const wire of WIRES) {
    const profile: EngineProfile = { ...wiring.profile, wire };
    const call = encodeTrainCall({ modelId, seq: 1, input, forwardOnly: true }, wire, profile);
    const sent = await sendRequest(
      { ...wiring, profile },
      { call, encode: () => call, isLarge: true, redo: 'same', signal: wiring.closing },
    );
    if (sent.kind === 'taken') {
      const outcome = await sent.outcome;
      if (outcome.kind === 'result') return wire;
      throw outcome.kind === 'failed' || outcome.kind === 'lost'
        ? outcome.error
        : new TrainingError('unknown', 'the connection was closed');
    }
    if (sent.kind !== 'refused' || !OTHER_WIRE.has(sent.status)) throw sent.error;
    reasons.push(`${wire}: ${sent.error.message}`);
  }
  throw new TrainingError('user', `the server takes a forward in neither format: ${reasons.join('; ')}`);
}
