import { hash } from 'node:crypto';
import type { ChatMessage, ChatRequest } from '../core/chat.ts';
import { parseJson } from '../core/json.ts';

/**
 * The ids of conversations up to and including a sampled reply. A bounded LRU cache: a conversation that was evicted is
 * tokenized again from its text.
 */
export interface ChatMemory {
  keep(key: string, ids: readonly number[]): void;
  find(key: string): Int32Array | undefined;
  readonly size: number;
}

export interface MemoryLimits {
  readonly replies: number;
  /** In total. */
  readonly tokens: number;
}

const isInt32 = (id: number): boolean => Number.isInteger(id) && id >= 0 && id < 2 ** 31;

export function createChatMemory({ replies, tokens }: MemoryLimits): ChatMemory {
  const kept = new Map<string, Int32Array>();
  let held = 0;
  const drop = (key: string): void => {
    held -= kept.get(key)?.length ?? 0;
    kept.delete(key);
  };
  return {
    get size() {
      return kept.size;
    },
    keep: (key, ids) => {
      drop(key);
      if (ids.length > tokens || !ids.every(isInt32)) return;
      kept.set(key, Int32Array.from(ids));
      held += ids.length;
      for (const oldest of kept.keys()) {
        if (kept.size <= replies && held <= tokens) break;
        drop(oldest);
      }
    },
    find: (key) => {
      const ids = kept.get(key);
      if (ids === undefined) return undefined;
      kept.delete(key);
      kept.set(key, ids);
      return ids;
    },
  };
}

/** Keys of a conversation's prefixes: the nth covers its first n messages, number 0 system prompt and tools alone. */
export function keysOf({ system, tools, toolChoice, messages }: ChatRequest): readonly string[] {
  const said = system.map(({ text }) => text);
  const keys = [sha(JSON.stringify([said, toolChoice === 'none' ? [] : tools]))];
  for (const message of messages) keys.push(keyAfter(keys.at(-1) ?? '', message));
  return keys;
}

export const keyAfter = (key: string, message: ChatMessage): string =>
  sha(key + JSON.stringify(coreOf(message)));

/** The identity of a message. Call ids are left out, because clients assign their own; arguments may return with other whitespace. */
function coreOf({ role, content }: ChatMessage): readonly unknown[] {
  const texts = new Map<string, string>();
  const others: unknown[] = [];
  for (const part of content) {
    if (part.type === 'text' || part.type === 'reasoning')
      texts.set(part.type, (texts.get(part.type) ?? '') + part.text);
    else if (part.type === 'tool-call') others.push([part.name, parseJson(part.arguments) ?? part.arguments]);
    else others.push([part.type, part.url]);
  }
  return [role, texts.get('text') ?? '', texts.get('reasoning') ?? '', others];
}

const sha = (text: string): string => hash('sha256', text, 'base64');
