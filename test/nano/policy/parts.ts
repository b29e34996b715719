import { readFileSync } from 'node:fs';
import type { ChatEvent, ChatModel, ChatRequest } from '../../../src/core/chat.ts';
import type { Lesson } from '../../../src/core/lesson.ts';
import type { Said, Speak } from '../../../src/core/speak.ts';
import { type Engine, EngineError, type SampleRequest } from '../../../src/nano/engine.ts';
import { createTokenizer, type Tokenizer } from '../../../src/nano/policy/tokenizer.ts';
import { readVocabulary, type Vocabulary } from '../../../src/nano/policy/vocabulary.ts';
import { text } from '../../library/shelf/samples.ts';

/** What ships. */
export function shippedVocabulary(): Vocabulary {
  const vocabulary = readVocabulary(readFileSync('models/nano/tokenizer.json', 'utf8'));
  if (vocabulary === undefined) throw new Error('models/nano/tokenizer.json is no vocabulary');
  return vocabulary;
}

export const shippedTokenizer = (): Tokenizer => createTokenizer(shippedVocabulary());

export const lesson = (name: string, description: string, content: string): Lesson =>
  ({
    id: name,
    kind: 'skill',
    state: 'live',
    revision: 1,
    frozen: false,
    text: text({ name, description, content }),
    createdAt: 1,
    updatedAt: 1,
  }) as unknown as Lesson;

export const ask = (prompt: string, more: Partial<ChatRequest> = {}): ChatRequest => ({
  model: 'nano',
  system: [],
  messages: [{ role: 'user', content: [{ type: 'text', text: prompt }] }],
  tools: [],
  stream: true,
  ...more,
});

/** An engine that says what it is told to, and knows nothing but saying. */
export function createSayingEngine(
  say: (
    prompt: readonly number[],
    request: SampleRequest,
    signal: AbortSignal,
  ) => readonly number[] | Promise<readonly number[]>,
): Engine {
  const unable = async (): Promise<never> => {
    throw new EngineError('this engine can only be sampled');
  };
  return {
    model: { name: 'saying', vocabulary: 768, contextLength: 768, layers: 3, width: 96 },
    createAdapter: unable,
    forward: unable,
    forwardBackward: unable,
    optimStep: unable,
    freeze: unable,
    save: unable,
    load: unable,
    dispose: unable,
    close: async () => undefined,
    sample: async (_, request, signal) => {
      const tokens = Int32Array.from(await say([...request.prompt], request, signal)).slice(
        0,
        request.maxTokens,
      );
      const isEnded = request.stop.includes(tokens.at(-1) ?? -1);
      return {
        sequences: [{ tokens, logprobs: new Float32Array(tokens.length), stop: isEnded ? 'stop' : 'length' }],
      };
    },
  };
}

export async function eventsOf(
  model: ChatModel,
  request: ChatRequest,
  signal?: AbortSignal,
): Promise<readonly ChatEvent[]> {
  const events: ChatEvent[] = [];
  for await (const event of model(request, { signal: signal ?? new AbortController().signal }))
    events.push(event);
  return events;
}

/** Speaks to a model without a gateway between. */
export const speakTo =
  (model: ChatModel): Speak =>
  async (request, _, signal) => {
    let said: Said = { text: '', calls: [], lessons: [] };
    const calls = new Map<string, { name: string; json: string }>();
    for (const event of await eventsOf(model, request, signal)) {
      if (event.type === 'text-delta') said = { ...said, text: said.text + event.text };
      if (event.type === 'tool-start') calls.set(event.id, { name: event.name, json: '' });
      const call = event.type === 'tool-delta' ? calls.get(event.id) : undefined;
      if (event.type === 'tool-delta' && call !== undefined) call.json += event.json;
      if (event.type === 'reply-end' && event.usage !== undefined) said = { ...said, usage: event.usage };
      if (event.type === 'failure') said = { ...said, failure: event.failure };
    }
    return {
      ...said,
      calls: [...calls].map(([id, { name, json }]) => ({ type: 'tool-call', id, name, arguments: json })),
    };
  };
