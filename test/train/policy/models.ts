import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { ChatMessage, ChatRequest, Tool } from '../../../src/core/chat.ts';
import { createManualClock } from '../../../src/core/clock.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import type { PolicyReply, PolicyTemplate } from '../../../src/core/training.ts';
import { type ChatTemplateOptions, createChatTemplate } from '../../../train/policy/chat-template.ts';

export const MODELS = path.join(import.meta.dirname, 'models');
export type ModelName = 'qwen' | 'llama' | 'metaspace';
export const CLOCK = createManualClock(Date.UTC(2026, 10, 15, 12));

const readJson = (...parts: readonly string[]): JsonObject =>
  JSON.parse(readFileSync(path.join(MODELS, ...parts), 'utf8')) as JsonObject;

export function sourcesOf(
  name: ModelName,
): Required<Pick<ChatTemplateOptions, 'tokenizer' | 'tokenizerConfig' | 'generation'>> {
  const config = readJson(name, 'tokenizer_config.json');
  const template =
    name === 'llama'
      ? { chat_template: readFileSync(path.join(MODELS, name, 'chat_template.jinja'), 'utf8') }
      : {};
  return {
    tokenizer: readJson(name, 'tokenizer.json'),
    tokenizerConfig: { ...config, ...template },
    generation: name === 'metaspace' ? {} : readJson(name, 'generation_config.json'),
  };
}

export const createTemplate = (name: ModelName, options: Partial<ChatTemplateOptions> = {}): PolicyTemplate =>
  createChatTemplate({ ...sourcesOf(name), clock: CLOCK, ...options });

export const TOOL: Tool = {
  name: 'run_command',
  description: 'Runs a command.',
  parameters: { type: 'object', properties: { command: { type: 'string' }, timeout: { type: 'integer' } } },
};

export const asking = (messages: readonly ChatMessage[], more: Partial<ChatRequest> = {}): ChatRequest => ({
  model: 'policy',
  system: [],
  messages,
  tools: [],
  stream: false,
  ...more,
});

export const user = (text: string): ChatMessage => ({ role: 'user', content: [{ type: 'text', text }] });
export const result = (callId: string, text: string): ChatMessage => ({
  role: 'tool',
  callId,
  content: [{ type: 'text', text }],
});

/** The message that a client keeps of a reply. */
export const assistant = ({ text, calls }: PolicyReply, turn = 0): ChatMessage => ({
  role: 'assistant',
  content: [
    ...(text === '' ? [] : [{ type: 'text', text } as const]),
    ...calls.map((call, at) => ({ type: 'tool-call', id: `t${turn}c${at}`, ...call }) as const),
  ],
});

export function promptOf(template: PolicyTemplate, request: ChatRequest): readonly number[] {
  const rendered = template.render(request);
  if (rendered.is !== 'prompt') throw new Error('there is no prompt');
  return rendered.tokens;
}

export const isStartOf = (start: readonly number[], whole: readonly number[]): boolean =>
  start.length <= whole.length && start.every((id, at) => id === whole[at]);
