import { readFileSync } from 'node:fs';
import type { ChatEvent, ChatModel, ChatRequest } from '../../../../src/core/chat.ts';
import type { Lesson } from '../../../../src/core/lesson.ts';
import type { Sampler, SamplerRequest } from '../../../../src/core/training.ts';
import { createNanoTemplate } from '../../../../train/nano/policy/nano-template.ts';
import { createNanoTokenizer, type NanoTokenizer } from '../../../../train/nano/policy/tokenizer.ts';
import { readVocabulary, type Vocabulary } from '../../../../train/nano/policy/vocabulary.ts';
import { createPolicyModel, type PolicyModelOptions } from '../../../../train/policy/policy-model.ts';
import { text } from '../../../lessons/library/samples.ts';

/** What ships. */
export function shippedVocabulary(): Vocabulary {
  const vocabulary = readVocabulary(readFileSync('models/nano/tokenizer.json', 'utf8'));
  if (vocabulary === undefined) throw new Error('models/nano/tokenizer.json is no vocabulary');
  return vocabulary;
}

export const shippedTokenizer = (): NanoTokenizer => createNanoTokenizer(shippedVocabulary());

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

/** A policy that says what it is told to. */
export const createSayingSampler = (
  say: (
    prompt: readonly number[],
    request: SamplerRequest,
    signal: AbortSignal,
  ) => readonly number[] | Promise<readonly number[]>,
): Sampler => ({
  close: async () => undefined,
  sample: async (request, signal) => {
    const tokens = (await say(request.prompt, request, signal)).slice(0, request.maxTokens);
    const isEnded = request.stop.includes(tokens.at(-1) ?? -1);
    return [{ tokens, logprobs: tokens.map(() => 0), stop: isEnded ? 'stop' : 'length' }];
  },
});

/** The small policy as a model, with these weights. */
export const nanoModel = (
  sampler: Sampler,
  more: Partial<Omit<PolicyModelOptions, 'template' | 'weights'>> = {},
): ChatModel =>
  createPolicyModel({
    template: createNanoTemplate(shippedTokenizer()),
    weights: async () => ({ version: 0, sampler, release: () => undefined }),
    ...more,
  });

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
