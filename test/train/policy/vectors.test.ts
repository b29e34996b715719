import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ChatMessage, ChatRequest, Tool } from '../../../src/core/chat.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import { createChatTokens } from '../../../train/policy/chat-tokens.ts';
import { asking, createTemplate, type ModelName, promptOf, sourcesOf } from './models.ts';

interface Vector {
  readonly title: string;
  readonly messages: readonly Foreign[];
  readonly tools: readonly { readonly function: Tool }[] | null;
  readonly variables: JsonObject;
  readonly ids?: readonly number[];
  readonly refusal?: string;
}
interface Foreign {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: JsonObject };
  }[];
}
interface Vectors {
  readonly conversations: readonly Vector[];
  readonly texts: readonly { readonly text: string; readonly ids: readonly number[] }[];
}

const vectors = JSON.parse(readFileSync(path.join(import.meta.dirname, 'vectors.json'), 'utf8')) as Readonly<
  Record<ModelName, Vectors>
>;
const NAMES = Object.keys(vectors) as ModelName[];

function messageOf(foreign: Foreign): ChatMessage {
  const content = [{ type: 'text', text: foreign.content } as const];
  if (foreign.role === 'tool') return { role: 'tool', callId: foreign.tool_call_id ?? '', content };
  if (foreign.role !== 'assistant') return { role: foreign.role, content };
  const calls = (foreign.tool_calls ?? []).map(
    ({ id, function: { name, arguments: given } }) =>
      ({ type: 'tool-call', id, name, arguments: JSON.stringify(given) }) as const,
  );
  return { role: 'assistant', content: [...content, ...calls] };
}

function requestOf({ messages, tools }: Vector): ChatRequest {
  const [first, ...rest] = messages;
  const isLed = first?.role === 'system';
  return asking((isLed ? rest : messages).map(messageOf), {
    system: isLed ? [{ type: 'text', text: first.content }] : [],
    tools: (tools ?? []).map((tool) => tool.function),
  });
}

describe.each(NAMES)('the template of %s', (name) => {
  const { conversations, texts } = vectors[name];

  it('renders every conversation to the ids of transformers', () => {
    const written = conversations.filter(({ ids }) => ids !== undefined);
    for (const vector of written) {
      const template = createTemplate(name, { variables: vector.variables });
      expect(promptOf(template, requestOf(vector)), vector.title).toEqual(vector.ids);
    }
    expect(written.length).toBeGreaterThanOrEqual({ qwen: 16, llama: 7, metaspace: 2 }[name]);
  });

  it('renders a refused conversation in an equivalent form, where there is one', () => {
    const refused = conversations.filter(({ refusal }) => refusal !== undefined);
    let adapted = 0;
    for (const vector of refused) {
      const write = () => promptOf(createTemplate(name), requestOf(vector));
      const isLost = name === 'metaspace' && vector.tools !== null;
      if (isLost) expect(write, vector.title).toThrow(/does not support tools/);
      else adapted += write().length > 10 ? 1 : 0;
    }
    expect([refused.length, adapted]).toEqual({ qwen: [0, 0], llama: [1, 1], metaspace: [6, 1] }[name]);
  });

  it('tokenizes as the tokenizer it was made from', () => {
    const { tokenizer, tokenizerConfig } = sourcesOf(name);
    const tokens = createChatTokens(tokenizer, tokenizerConfig);
    for (const { text, ids } of texts) {
      expect(tokens.encode(text), text).toEqual(ids);
      if (name !== 'metaspace') expect(tokens.decode(ids)).toBe(text.normalize('NFC'));
    }
    expect(texts.length).toBeGreaterThan(10);
  });
});
