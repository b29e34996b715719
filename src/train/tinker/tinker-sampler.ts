import { sleep } from '../../base/sleep.ts';
import { compact } from '../../core/json.ts';
import {
  type SampledSequence,
  type Sampler,
  type SamplerRequest,
  TrainingError,
} from '../../core/training.ts';
import { decodeJsonSample, decodeProtoSample } from './decode-sample.ts';
import { jsonCall } from './post.ts';
import { resultOf, sendRequest } from './send-request.ts';
import { errorOf } from './submit-in-order.ts';
import { expectMany } from './submitted.ts';
import type { Wiring } from './wiring.ts';

/** All samplers of a connection pause together after a 429. */
export interface SamplingRest {
  until: number;
}

/** A large prompt costs the server more: the pause is longer. */
const LARGE_BYTES = 128 * 1024;
const LARGE_FACTOR = 5;
/** Approximate size in JSON. */
const BYTES_PER_TOKEN = 10;

export function createTinkerSampler(wiring: Wiring, id: string, rest: SamplingRest): Sampler {
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
  const encode = (request: SamplerRequest) =>
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
      sampling_session_id: id,
      seq_id: nextSeq++,
      type: 'sample',
    });

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
      expectMany(signal);
      for (const one of [signal, wiring.closing]) {
        if (one.aborted) end();
        one.addEventListener('abort', end);
      }
      const leave = await wiring.sampling.enter(request.prompt.length * BYTES_PER_TOKEN, stop.signal);
      try {
        if (leave === undefined) throw new TrainingError('unknown', 'asample: aborted');
        return await draw(request, stop.signal);
      } catch (error) {
        throw errorOf(error, 'asample');
      } finally {
        leave?.();
        for (const one of [signal, wiring.closing]) one.removeEventListener('abort', end);
      }
    },
    close: async () => undefined,
  };
}
