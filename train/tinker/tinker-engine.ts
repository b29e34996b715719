import { sleep } from '../../src/base/sleep.ts';
import { asNumber, asString, compact } from '../../src/core/json.ts';
import {
  type SampledSequence,
  type Sampler,
  type SamplerRequest,
  type TrainingEngine,
  TrainingError,
} from '../../src/core/training.ts';
import type { FutureOutcome } from './await-future.ts';
import { roundUp } from './batch-layout.ts';
import { allowManyListeners, toTrainingError } from './ordered-requests.ts';
import { jsonCall } from './post.ts';
import type { SelfTestReport } from './self-test.ts';
import { requestJson, resultOf, sendRequest, type TinkerConnection } from './send-request.ts';
import { createTinkerModel, type TinkerModel } from './tinker-model.ts';
import { decodeJsonSample, decodeProtoSample } from './train-messages.ts';

/** An engine over the Tinker protocol. */
export interface TinkerEngine extends TrainingEngine {
  createModel(options: { readonly rank: number; readonly seed?: number }): Promise<TinkerModel>;
  openModel(path: string): Promise<TinkerModel>;
  /**
   * The outcome of a request by its future's id, also of one that an earlier process sent: `result` when it was done,
   * `failed` when it failed or never existed, `expired` or `lost` when the server cannot tell.
   */
  lookUp(requestId: string, signal: AbortSignal): Promise<FutureOutcome['kind']>;
  /** Undefined: there was no self-test. */
  readonly selfTest: SelfTestReport | undefined;
}

/** Used when the server does not report a saved model's rank. */
const USUAL_RANK = 32;

/** The session's counters, shared by everything that creates models or samplers in it. */
interface SessionCounts {
  models: number;
  samplers: number;
}

export interface TinkerEngineParts {
  readonly wiring: TinkerConnection;
  readonly counts: SessionCounts;
  /** The server creates and loads a model in one request. */
  readonly createsByLoading: boolean;
  readonly selfTest: SelfTestReport | undefined;
  readonly close: () => void;
}

export function createTinkerEngine(parts: TinkerEngineParts): TinkerEngine {
  const { wiring, counts, selfTest } = parts;
  const { profile, session, closing } = wiring;
  const rest: SamplingRest = { until: 0 };
  const { fills } = wiring.traits;
  const waves = fills === undefined ? undefined : createSampleWaves(fills.sample);

  const makeModel = async (route: string, body: object): Promise<string> => {
    const call = jsonCall(route, {
      session_id: session,
      model_seq_id: counts.models++,
      ...body,
      type: route,
    });
    const id = asString((await requestJson(wiring, call)).model_id);
    if (id === undefined || id === '')
      throw new TrainingError('server', `${route}: the answer names no model`);
    return id;
  };
  const create = async (rank: number, seed: number | undefined): Promise<TinkerModel> => {
    const lora = { rank, seed, train_unembed: true, train_mlp: true, train_attn: true };
    const body = { base_model: profile.baseModel, lora_config: compact(lora) };
    return createTinkerModel(wiring, await makeModel('create_model', body), 1);
  };
  const load = async (path: string): Promise<TinkerModel> => {
    const { rank, doubt } = await rankOf(path, wiring);
    const model = await create(rank, undefined).catch((error: unknown) => {
      if (doubt === undefined || !(error instanceof TrainingError)) throw error;
      // The complaint about a guessed rank alone would be misleading.
      throw new TrainingError(doubt.category, `${path}: ${doubt.message}; ${error.message}`);
    });
    // Servers allow this only as a model's first request.
    const body = { model_id: model.id, seq_id: 1, path, optimizer: true, type: 'load_weights' };
    await requestJson(wiring, jsonCall('load_weights', body)).catch(async (error: TrainingError) => {
      await model.close();
      throw error;
    });
    return createTinkerModel(wiring, model.id, 2);
  };

  return {
    profile,
    selfTest,
    createModel: ({ rank, seed }) => create(rank, seed),
    openModel: async (path) => {
      if (parts.createsByLoading) {
        const body = { base_model: profile.baseModel, path, optimizer: true };
        return createTinkerModel(wiring, await makeModel('load_weights', body), 1);
      }
      return load(path);
    },
    openSampler: async (path): Promise<Sampler> => {
      const body = compact({
        session_id: session,
        sampling_session_seq_id: counts.samplers++,
        base_model: path === undefined ? profile.baseModel : undefined,
        model_path: path,
        type: 'create_sampling_session',
      });
      const call = jsonCall('create_sampling_session', body);
      const made = await wiring.post({
        call,
        key: wiring.nextKey('create_sampling_session'),
        signal: closing,
      });
      if (made.kind === 'aborted') throw new TrainingError('unknown', 'the connection was closed');
      if (made.kind !== 'answered') throw made.error;
      const id = asString(made.body.sampling_session_id);
      if (id === undefined || id === '')
        throw new TrainingError('server', 'create_sampling_session: the answer names no sampler');
      return createTinkerSampler(wiring, id, rest, waves);
    },
    lookUp: async (id, signal) => {
      const either = AbortSignal.any([signal, closing]);
      const options = { route: 'lookup', takesProto: false, isAnnounced: false, signal: either };
      return (await wiring.awaitFuture({ id, ...options })).kind;
    },
    close: async () => parts.close(),
  };
}

/** `doubt`: why the rank is a guess. */
async function rankOf(
  path: string,
  wiring: TinkerConnection,
): Promise<{ readonly rank: number; readonly doubt?: TrainingError }> {
  const call = jsonCall('weights_info', { tinker_path: path });
  const info = await wiring.post({
    call,
    key: wiring.nextKey('weights_info'),
    signal: wiring.closing,
    forMs: wiring.pace.adviceForMs,
  });
  if (info.kind === 'answered') return { rank: asNumber(info.body.lora_rank) ?? USUAL_RANK };
  if (info.kind === 'aborted') return { rank: USUAL_RANK };
  wiring.log(`the rank of ${path} is unknown: ${info.error.message}`);
  return { rank: USUAL_RANK, doubt: info.error };
}

/** All samplers of a connection pause together after a 429. */
interface SamplingRest {
  until: number;
}

/** A large prompt costs the server more: the pause is longer. */
const LARGE_BYTES = 128 * 1024;
const LARGE_FACTOR = 5;
/** Approximate size in JSON. */
const BYTES_PER_TOKEN = 10;

const encodeSample = (request: SamplerRequest, sampler: string, seq: number) =>
  jsonCall('asample', {
    num_samples: request.count,
    prompt: { chunks: [{ type: 'encoded_text', tokens: request.prompt }] },
    sampling_params: compact({
      max_tokens: request.maxTokens,
      temperature: request.temperature,
      // Truncated sampling would make the log-probabilities wrong.
      top_k: -1,
      top_p: 1,
      stop: request.stop.length === 0 ? undefined : request.stop,
      seed: request.seed,
    }),
    sampling_session_id: sampler,
    seq_id: seq,
    type: 'sample',
  });

function createTinkerSampler(
  wiring: TinkerConnection,
  id: string,
  rest: SamplingRest,
  waves: SampleWaves | undefined,
): Sampler {
  const { clock, pace } = wiring;
  let nextSeq = 0;
  const waitForRest = async (signal: AbortSignal): Promise<void> => {
    for (
      let ms = rest.until - clock.monotonic();
      ms > 0 && !signal.aborted;
      ms = rest.until - clock.monotonic()
    )
      await sleep(ms, signal);
  };
  const encode = (request: SamplerRequest) => encodeSample(request, id, nextSeq++);

  const draw = async (request: SamplerRequest, signal: AbortSignal): Promise<readonly SampledSequence[]> => {
    const call = encode(request);
    const pauseMs = pace.restMs * (call.bytes.length > LARGE_BYTES ? LARGE_FACTOR : 1);
    const sent = await sendRequest(wiring, {
      call,
      encode: () => encode(request),
      isLarge: true,
      redo: 'fresh',
      signal,
      options: {
        before: waitForRest,
        onHaste: () => {
          rest.until = Math.max(rest.until, clock.monotonic() + pauseMs);
        },
        headers: { 'x-tinker-sampling-backpressure': '1' },
      },
    });
    if (sent.kind !== 'taken') throw sent.error;
    const answer = resultOf(await sent.outcome);
    const sequences =
      answer.type === 'protobuf' ? decodeProtoSample(answer.bytes) : decodeJsonSample(answer.bytes);
    if (sequences.length !== request.count)
      throw new TrainingError(
        'server',
        `asample: the server returned ${sequences.length} samples instead of ${request.count}`,
      );
    return sequences;
  };

  return {
    sample: async (request, signal) => {
      const stop = new AbortController();
      const end = (): void => stop.abort();
      allowManyListeners(signal);
      for (const one of [signal, wiring.closing]) {
        if (one.aborted) end();
        one.addEventListener('abort', end);
      }
      const leave = await wiring.sampling.enter(request.prompt.length * BYTES_PER_TOKEN, stop.signal);
      try {
        if (leave === undefined) throw new TrainingError('unknown', 'asample: aborted');
        const { signal: stopping } = stop;
        if (waves === undefined) return await draw(request, stopping);
        const ask = (count: number) => draw({ ...request, count }, stopping);
        return (await waves.join(request.count, ask, stopping)).slice(0, request.count);
      } catch (error) {
        throw toTrainingError(error, 'asample');
      } finally {
        leave?.();
        for (const one of [signal, wiring.closing]) one.removeEventListener('abort', end);
      }
    },
    close: async () => undefined,
  };
}

/**
 * Sampling requests in waves, for a server that samples one batch at a time and compiles a program for each number of
 * sequences. Requests that come while a wave is out wait for its end and go together; the last one of a wave asks for as
 * many more samples as make the number a multiple. A wave of a single sample goes as it is: someone waits for that reply.
 */
interface SampleWaves {
  /** `send` is called with the number of samples to ask for, which is `count` or more. */
  join<T>(count: number, send: (count: number) => Promise<T>, signal: AbortSignal): Promise<T>;
}

interface WaitingRequest {
  readonly count: number;
  readonly start: (count: number) => Promise<void>;
}

/** The server looks for work every 100 ms: what comes within this time is found together. */
const GATHER_MS = 20;

function createSampleWaves(multiple: number): SampleWaves {
  const waiting: WaitingRequest[] = [];
  let isOut = false;

  const run = async (): Promise<void> => {
    isOut = true;
    await new Promise((resolve) => setTimeout(resolve, GATHER_MS));
    while (waiting.length > 0) {
      const wave = waiting.splice(0);
      const total = wave.reduce((sum, { count }) => sum + count, 0);
      const missing = total === 1 ? 0 : roundUp(total, multiple) - total;
      await Promise.all(
        wave.map(({ count, start }, at) => start(count + (at === wave.length - 1 ? missing : 0))),
      );
    }
    isOut = false;
  };

  return {
    join: (count, send, signal) =>
      new Promise((resolve, reject) => {
        const leave = (): void => {
          const place = waiting.indexOf(entry);
          if (place !== -1) waiting.splice(place, 1);
          reject(new TrainingError('unknown', 'asample: aborted'));
        };
        const entry: WaitingRequest = {
          count,
          // Never rejects: the others of its wave go on.
          start: async (wanted) => {
            signal.removeEventListener('abort', leave);
            await send(wanted).then(resolve, reject);
          },
        };
        if (signal.aborted) return leave();
        signal.addEventListener('abort', leave, { once: true });
        waiting.push(entry);
        if (!isOut) void run();
      }),
  };
}
