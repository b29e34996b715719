import type { ChatEvent, ChatModel, ChatRequest, TurnMark, Usage } from '../../src/core/chat.ts';
import { createFailure, errorMessage } from '../../src/core/failure.ts';
import {
  type PolicyReply,
  type PolicyTemplate,
  type SampledSequence,
  type SampledTurn,
  type ServedWeights,
  TrainingError,
} from '../../src/core/training.ts';

export interface PolicyModelOptions {
  readonly template: PolicyTemplate;
  /** The weights that answer, called once per turn. Rejects with a TrainingError when there are none. */
  readonly weights: (turn: TurnMark | undefined) => Promise<ServedWeights>;
  /** For requests without a temperature; 1 by default. */
  readonly temperature?: number;
  /** The seed of the next reply; without one the engine chooses. */
  readonly seed?: () => number;
  /** Called with every sampled reply before it is sent. */
  readonly keep?: (sampled: SampledTurn, turn: TurnMark | undefined) => void;
}

/**
 * A policy as a ChatModel. Replies are sampled as a whole: their lines are streamed all at once. One set of weights samples
 * a whole reply.
 */
export function createPolicyModel(options: PolicyModelOptions): ChatModel {
  let asked = 0;
  return (request, { signal, turn }) => {
    const id = `policy-${++asked}`;
    return {
      async *[Symbol.asyncIterator]() {
        const leaving = new AbortController();
        const leave = () => leaving.abort();
        signal.addEventListener('abort', leave, { once: true });
        if (signal.aborted) leave();
        try {
          const sampled = await sample(request, options, turn, leaving.signal);
          if (leaving.signal.aborted) yield failureOf(undefined, leaving.signal);
          else yield* eventsOf(sampled, id, request.model);
        } catch (error) {
          yield failureOf(error, leaving.signal);
        } finally {
          signal.removeEventListener('abort', leave);
          // The reader has left: stop sampling.
          leave();
        }
      },
    };
  };
}

function* eventsOf({ reply, usage, isCut }: SampledReply, id: string, model: string): Generator<ChatEvent> {
  yield { type: 'reply-start', id, model };
  for (const line of reply.text.split(/(?<=\n)/)) if (line !== '') yield { type: 'text-delta', text: line };
  for (const [at, call] of reply.calls.entries()) {
    const callId = `${id}-call${at + 1}`;
    yield { type: 'tool-start', id: callId, name: call.name };
    yield { type: 'tool-delta', id: callId, json: call.arguments };
  }
  const stop = reply.calls.length > 0 ? 'tool-calls' : isCut ? 'length' : 'end';
  yield { type: 'reply-end', stop, usage };
}

interface SampledReply {
  readonly reply: PolicyReply;
  readonly usage: Usage;
  readonly isCut: boolean;
}

async function sample(
  request: ChatRequest,
  { template, weights, keep, seed, temperature: usual = 1 }: PolicyModelOptions,
  turn: TurnMark | undefined,
  signal: AbortSignal,
): Promise<SampledReply> {
  const rendered = template.render(request);
  if (rendered.is === 'reply')
    return { reply: rendered.reply, usage: { inputTokens: 0, outputTokens: 0 }, isCut: false };
  const { tokens: prompt } = rendered;
  const temperature = request.temperature ?? usual;
  const maxTokens = Math.max(1, Math.min(request.maxTokens ?? template.longestReply, template.longestReply));
  const served = await weights(turn);
  let sequence: SampledSequence | undefined;
  try {
    const { stop } = template;
    const ask = { prompt, count: 1, maxTokens, temperature, stop };
    [sequence] = await served.sampler.sample(seed === undefined ? ask : { ...ask, seed: seed() }, signal);
  } finally {
    served.release();
  }
  if (sequence === undefined) throw new TrainingError('server', 'the engine returned no sample');
  const { tokens, logprobs } = sequence;
  keep?.({ prompt, tokens, logprobs, version: served.version, temperature }, turn);
  return {
    reply: template.read(tokens, request),
    usage: { inputTokens: prompt.length, outputTokens: tokens.length },
    isCut: sequence.stop === 'length',
  };
}

function failureOf(error: unknown, signal: AbortSignal): ChatEvent {
  if (signal.aborted)
    return { type: 'failure', failure: createFailure('aborted', 'The request was aborted.') };
  const message = errorMessage(error);
  const isAskers = error instanceof TrainingError && error.category === 'user';
  const isEngines = error instanceof TrainingError && error.category !== 'user';
  const kind = isAskers ? 'bad-request' : isEngines ? 'upstream-error' : 'internal';
  return { type: 'failure', failure: createFailure(kind, message) };
}
