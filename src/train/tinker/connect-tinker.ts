import { setMaxListeners } from 'node:events';
import type { Clock } from '../../core/clock.ts';
import { asNumber, type JsonObject } from '../../core/json.ts';
import { type EngineProfile, type LossKind, TrainingError } from '../../core/training.ts';
import type { Random } from '../../stats/random.ts';
import { createAwaitFuture } from './await-future.ts';
import { findWire } from './find-wire.ts';
import { createGate } from './gate.ts';
import { DEFAULT_PACE, type Pace } from './pace.ts';
import { createPost } from './post.ts';
import { PROFILES, type ProfileName, type ServerTraits } from './profiles.ts';
import { readCapabilities } from './read-capabilities.ts';
import { runSelfTest } from './self-test.ts';
import { openSession } from './session.ts';
import { CHUNK_LIMITS } from './split-data.ts';
import { createTinkerEngine, type TinkerEngine } from './tinker-engine.ts';
import { createTransport } from './transport.ts';
import type { Wiring } from './wiring.ts';
import { withSamplersApart } from './with-samplers-apart.ts';

export interface ConnectOptions {
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
  readonly pace?: Partial<Pace>;
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

/**
 * Connects to a server that speaks the Tinker protocol, detects its wire format, and tests whether it computes what it
 * claims. Rejects with a TrainingError; then nothing is left running.
 */
export async function connectTinker(options: ConnectOptions): Promise<TinkerEngine> {
  const { baseModel, clock, random, losses = ['importance_sampling'], log = () => undefined } = options;
  const { profile: wanted = 'generic' } = options;
  const traits = typeof wanted === 'string' ? PROFILES[wanted] : wanted;
  const missing = losses.filter((loss) => !traits.losses.includes(loss));
  if (missing.length > 0) throw new TrainingError('user', `${traits.name} has no loss ${missing.join(', ')}`);

  // fetch would put the key into its error message.
  if (options.key !== undefined && !/^[\x21-\x7e]+$/.test(options.key))
    throw new TrainingError('user', 'the key has characters that are not allowed in a header');

  const pace: Pace = { ...DEFAULT_PACE, ...options.pace };
  const closing = new AbortController();
  const { signal } = closing;
  // Every request in progress listens to it.
  setMaxListeners(0, signal);
  const { url, key, mostBytes = MOST_BYTES } = options;
  const transport = createTransport({ url, key, fetch: options.fetch, clock, mostBytes });
  const shared = { transport, pace, clock, random: random.next, log };
  const post = createPost(shared);
  // Unique: time and a random number separate processes, a counter separates requests.
  const start = `instar-${clock.now().toString(36)}-${random.below(2 ** 48).toString(36)}`;
  let keys = 0;
  const nextKey = (route: string): string => `${start}-${keys++}-${route}`;

  const server = await readCapabilities(post, baseModel, nextKey, signal);
  const session = await openSession({ ...shared, post, key: nextKey('create_session'), closing: signal });
  const close = (): void => {
    session.close();
    closing.abort();
  };
  const profile: EngineProfile = {
    name: traits.name,
    baseModel,
    wire: traits.wire ?? 'json',
    losses: traits.losses,
    reduction: traits.reduction,
    learningRate: traits.learningRate,
    contextLength: server.contextLength ?? traits.contextLength,
    inputs: traits.inputs,
  };
  const wiring: Wiring = {
    profile,
    traits,
    session: session.id,
    post,
    awaitFuture: createAwaitFuture({ ...shared, results: createGate(RESULTS) }),
    chunks: chunksOf(server.config),
    training: createGate(TRAINING),
    sampling: createGate(SAMPLING),
    pace,
    clock,
    closing: signal,
    nextKey,
    log,
  };
  const counts = { models: 0, samplers: 0 };
  const createsByLoading = server.config.create_model_via_load_weights === true;
  const parts = { wiring, counts, createsByLoading, selfTest: undefined, close };
  try {
    const prompt = (options.selfTest || undefined)?.prompt ?? PROMPT;
    if (traits.wire === undefined)
      parts.wiring = { ...wiring, profile: { ...profile, wire: await probe(prompt) } };
    const selfTest = options.selfTest === false ? undefined : await test(prompt);
    const engine = createTinkerEngine({ ...parts, selfTest });
    return traits.samplesInPlace ? withSamplersApart(engine) : engine;
  } catch (error) {
    close();
    throw error;
  }

  async function probe(prompt: readonly number[]): Promise<EngineProfile['wire']> {
    const model = await createTinkerEngine(parts).createModel({ rank: TEST_RANK, seed: 0 });
    const wire = await findWire(wiring, model.id, prompt);
    await model.close();
    log(`the server takes ${wire}`);
    return wire;
  }

  async function test(prompt: readonly number[]) {
    const engine = createTinkerEngine(parts);
    const model = await engine.createModel({ rank: TEST_RANK, seed: 0 });
    const sampler = await engine.openSampler(undefined);
    const { reduction } = profile;
    const { tolerance } = traits;
    const report = await runSelfTest({ model, sampler, losses, reduction, tolerance, prompt, signal, log });
    await sampler.close();
    await model.close();
    return report;
  }
}

function chunksOf(config: JsonObject): typeof CHUNK_LIMITS {
  const atLeastOne = (value: number | undefined, most: number): number =>
    value === undefined || value < 1 ? most : Math.min(value, most);
  return {
    data: atLeastOne(asNumber(config.fwdbwd_max_chunk_len), CHUNK_LIMITS.data),
    bytes: atLeastOne(asNumber(config.fwdbwd_max_chunk_bytes_count), CHUNK_LIMITS.bytes),
  };
}
