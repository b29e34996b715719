import type { ChatEvent, ChatModel, ChatRequest } from '../../core/chat.ts';
import { createFailure } from '../../core/failure.ts';
import { type Engine, EngineError } from '../engine.ts';
import { readReply } from './read-reply.ts';
import { renderPrompt } from './render-prompt.ts';
import type { Tokenizer } from './tokenizer.ts';
import { MARK } from './vocabulary.ts';
import type { Reply } from './write-reply.ts';

export interface NanoModelOptions {
  readonly engine: Engine;
  readonly tokenizer: Tokenizer;
  /** An adapter or a frozen copy of the engine; the bare model without. */
  readonly weights?: string;
  /** For requests that say none; 1 unless given. */
  readonly temperature?: number;
  /** The same requests in the same order get the same replies. */
  readonly seed?: number;
}

const TOOL = 'run_command';
const LONGEST_REPLY = 208;
const DONE = 'That is done.';
const FOREIGN =
  'I am Instar nano, a laboratory model with 0.4 million parameters. I only know workdays: the short tasks and questions of ' +
  'the suite of that name. I cannot help with anything else; please ask another model.';

/**
 * The policy as a model: it reads the skills and the last question of a request, and says or does everything in one reply. The
 * engine samples a reply as a whole, so that its text comes line by line but at once.
 */
export function createNanoModel(options: NanoModelOptions): ChatModel {
  let asked = 0;
  return (request, { signal }) => {
    const turn = asked++;
    return {
      async *[Symbol.asyncIterator]() {
        const leaving = new AbortController();
        const leave = () => leaving.abort();
        signal.addEventListener('abort', leave, { once: true });
        if (signal.aborted) leave();
        try {
          yield* answer(request, options, turn, leaving.signal);
        } catch (error) {
          yield failureOf(error, leaving.signal);
        } finally {
          signal.removeEventListener('abort', leave);
          // A reader that has left wants no more of it.
          leave();
        }
      },
    };
  };
}

async function* answer(
  request: ChatRequest,
  options: NanoModelOptions,
  turn: number,
  signal: AbortSignal,
): AsyncGenerator<ChatEvent, undefined> {
  const id = `nano-${turn + 1}`;
  // What it did has been answered; no result could lead to more.
  const isDone = request.messages.at(-1)?.role === 'tool';
  const said = isDone ? saying(DONE) : await sample(request, options, turn, signal);
  if (signal.aborted) {
    yield failureOf(undefined, signal);
    return;
  }
  yield { type: 'reply-start', id, model: request.model };
  const { reply, usage } = said;
  if (
    reply.is === 'act' &&
    request.tools.some(({ name }) => name === TOOL) &&
    request.toolChoice !== 'none'
  ) {
    const call = `${id}-call`;
    yield { type: 'tool-start', id: call, name: TOOL };
    yield { type: 'tool-delta', id: call, json: JSON.stringify({ command: reply.commands.join('\n') }) };
    yield { type: 'reply-end', stop: 'tool-calls', usage };
    return;
  }
  for (const line of textOf(reply).split(/(?<=\n)/))
    if (line !== '') yield { type: 'text-delta', text: line };
  yield { type: 'reply-end', stop: said.isCut ? 'length' : 'end', usage };
}

interface Sampled {
  readonly reply: Reply;
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
  readonly isCut: boolean;
}

const saying = (text: string): Sampled => ({
  reply: { is: 'say', text },
  usage: { inputTokens: 0, outputTokens: 0 },
  isCut: false,
});

async function sample(
  request: ChatRequest,
  { engine, tokenizer, weights, temperature = 1, seed = 1 }: NanoModelOptions,
  turn: number,
  signal: AbortSignal,
): Promise<Sampled> {
  const prompt = renderPrompt(request, tokenizer);
  if (prompt.is === 'foreign') return saying(FOREIGN);
  const { sequences } = await engine.sample(
    weights,
    {
      prompt: prompt.tokens,
      count: 1,
      maxTokens: Math.max(1, Math.min(request.maxTokens ?? LONGEST_REPLY, LONGEST_REPLY)),
      temperature: request.temperature ?? temperature,
      topK: -1,
      topP: request.topP ?? 1,
      seed: seed + turn,
      stop: [MARK.end],
    },
    signal,
  );
  const [sequence] = sequences;
  if (sequence === undefined) throw new EngineError('the engine sampled nothing');
  return {
    reply: readReply(sequence.tokens, tokenizer),
    usage: { inputTokens: prompt.tokens.length, outputTokens: sequence.tokens.length },
    isCut: sequence.stop === 'length',
  };
}

function textOf(reply: Reply): string {
  if (reply.is === 'foreign') return FOREIGN;
  return reply.is === 'say' ? reply.text : reply.commands.join('\n');
}

function failureOf(error: unknown, signal: AbortSignal): ChatEvent {
  if (signal.aborted)
    return { type: 'failure', failure: createFailure('aborted', 'The request was aborted.') };
  const message = error instanceof Error ? error.message : String(error);
  return {
    type: 'failure',
    failure: createFailure(error instanceof EngineError ? 'bad-request' : 'internal', message),
  };
}
