import { setImmediate as nextTurn } from 'node:timers/promises';
import { untilAborted } from '../../../src/base/until-aborted.ts';
import { checkSampleRequest } from '../check-requests.ts';
import type { SampleRequest, SampleResult, Sequence } from '../engine.ts';
import { createAttention } from '../model/attention.ts';
import type { DecoderWeights } from '../model/decoder-weights.ts';
import { runForward, scoreRows, type Tape } from '../model/forward.ts';
import { createLoadedModel, type LoadedModel } from '../model/loaded-model.ts';
import type { Lora } from '../model/lora.ts';
import { createMachine, FLOAT } from '../model/machine.ts';
import { createPrefixTree } from '../model/prefix-tree.ts';
import { createTokenChooser, DECODE_BATCH, type GrowingSequence } from './choose-token.ts';
import { createDecoder, createKeyValueCache } from './decoder.ts';

/** An adapter's weights. The same name means the same weights, so that they are merged only once. */
export interface NamedLora {
  readonly name: string;
  readonly lora: Lora;
}

/** Requests run one at a time, in order. An abort rejects with the signal's reason, and stops the work between two tokens. */
export interface EngineSampler {
  sample(weights: NamedLora | undefined, request: SampleRequest, signal: AbortSignal): Promise<SampleResult>;
}

/** The log-probabilities of the prompt's tokens; NaN for the first. */
const scorePrompt = (model: LoadedModel, tape: Tape, prompt: Int32Array): Float32Array => {
  const logprobs = new Float32Array(prompt.length).fill(Number.NaN);
  const tokens = prompt.subarray(1);
  scoreRows(model, tape, {
    rows: Int32Array.from(tokens, (_, row) => row),
    tokens,
    onLogprob: (place, logprob) => {
      logprobs[place + 1] = logprob;
      return 0;
    },
  });
  return logprobs;
};

/** One decode batch: at most DECODE_BATCH of the request's sequences, from the one numbered `first` on. */
interface DecodeBatch {
  readonly request: SampleRequest;
  readonly first: number;
  readonly signal: AbortSignal;
}

/** Samples the sequences of a decode batch; `tape` has the prompt's activations. */
const decode = async (
  model: LoadedModel,
  tape: Tape,
  { request, first, signal }: DecodeBatch,
): Promise<readonly GrowingSequence[]> => {
  const { prompt } = request;
  const { contextLength, width } = model.machine.shape;
  const room = Math.min(request.maxTokens, contextLength - prompt.length);
  const count = Math.min(DECODE_BATCH, request.count - first);
  const all = Array.from(
    { length: count },
    (_, at): GrowingSequence => ({ index: first + at, tokens: [], logprobs: [], stop: 'length' }),
  );
  const keyValues = createKeyValueCache(model.machine, tape.layers, {
    promptLength: prompt.length,
    sequences: count,
    room,
  });
  const decoder = createDecoder(model, keyValues, count);
  const choose = createTokenChooser(model, request);
  choose(tape.hidden + (prompt.length - 1) * width * FLOAT, 1, all);
  for (let done = 1; done < room; done++) {
    const active = all.filter(({ stop }) => stop !== 'stop');
    if (active.length === 0) break;
    await nextTurn();
    signal.throwIfAborted();
    const tokens = Int32Array.from(active, (sequence) => sequence.tokens.at(-1) ?? 0);
    const places = active.map(({ index }) => index - first);
    const hidden = decoder.step(tokens, places, prompt.length + done - 1);
    choose(hidden, active.length, active);
  }
  return all;
};

export const createEngineSampler = (weights: DecoderWeights): EngineSampler => {
  const machine = createMachine(weights.shape);
  const model = createLoadedModel(machine, weights, false);
  model.bind(undefined);
  let boundTo: string | undefined;

  const run = async (named: NamedLora | undefined, request: SampleRequest, signal: AbortSignal) => {
    signal.throwIfAborted();
    checkSampleRequest(request, weights.shape);
    if (boundTo !== named?.name) model.bind(named?.lora);
    boundTo = named?.name;
    const { arena } = machine;
    const ground = arena.mark();
    try {
      const tree = createPrefixTree();
      tree.add(request.prompt);
      const tape = runForward(model, createAttention(machine), tree.rows());
      const promptLogprobs = request.wantsPromptLogprobs
        ? scorePrompt(model, tape, request.prompt)
        : undefined;
      const prefilled = arena.mark();
      const sequences: Sequence[] = [];
      while (sequences.length < request.count) {
        arena.rewind(prefilled);
        const batch = await decode(model, tape, { request, first: sequences.length, signal });
        for (const { tokens, logprobs, stop } of batch) {
          sequences.push({ tokens: Int32Array.from(tokens), logprobs: Float32Array.from(logprobs), stop });
        }
      }
      return { sequences, ...(promptLogprobs && { promptLogprobs }) };
    } finally {
      arena.rewind(ground);
    }
  };

  let last: Promise<unknown> = Promise.resolve();
  return {
    sample(named, request, signal) {
      const mine = last.then(() => run(named, request, signal));
      last = mine.catch(() => undefined);
      return untilAborted(mine, signal);
    },
  };
};
