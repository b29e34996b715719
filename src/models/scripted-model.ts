import { setImmediate } from 'node:timers/promises';
import type { ChatEvent, ChatModel, ChatRequest } from '../core/chat.ts';
import { createChatEvents } from './chat-events.ts';

/** A reply as its text, or event by event. */
export type Script = (request: ChatRequest) => readonly ChatEvent[] | string;

/**
 * A model that answers from a script: for tests, and for Instar's own messages. The same requests in the same order
 * give the same events. Other work runs between two events, as with a model that streams.
 */
export function createScriptedModel(script: Script, name?: string): ChatModel {
  let replies = 0;
  return (request, { signal }) =>
    createChatEvents(signal, async function* (inner): AsyncGenerator<ChatEvent, undefined> {
      if (inner.aborted) return;
      replies++;
      const reply = script(request);
      const events =
        typeof reply === 'string'
          ? toEvents(reply, request, `scripted-${replies}`, name ?? request.model)
          : reply;
      for (const event of events) {
        await setImmediate();
        if (inner.aborted) return;
        yield event;
      }
    });
}

function toEvents(text: string, request: ChatRequest, id: string, model: string): readonly ChatEvent[] {
  return [
    { type: 'reply-start', id, model },
    ...(text.match(/\s*\S+|\s+$/g) ?? []).map((word): ChatEvent => ({ type: 'text-delta', text: word })),
    {
      type: 'reply-end',
      stop: 'end',
      usage: {
        inputTokens: estimateTokens(charactersOf(request)),
        outputTokens: estimateTokens(text.length),
      },
    },
  ];
}

const estimateTokens = (characters: number): number => Math.ceil(characters / 4);

function charactersOf({ system, messages }: ChatRequest): number {
  const parts = [...system, ...messages.flatMap((message): readonly object[] => message.content)];
  return parts.reduce((sum, part) => {
    if ('text' in part && typeof part.text === 'string') return sum + part.text.length;
    return 'arguments' in part && typeof part.arguments === 'string' ? sum + part.arguments.length : sum;
  }, 0);
}

const WELCOME =
  'Hello! Instar is running and your agent has reached it, but no model provider is configured yet, so this reply is ' +
  'scripted. To talk to a real model, run `instar init`; or set OPENAI_API_KEY or ANTHROPIC_API_KEY, or start Ollama, ' +
  'and start Instar again.';

/** Answers when no provider is configured: it says so, explains what to do, and calls no tools. */
export const createWelcomeModel = (): ChatModel => createScriptedModel(() => WELCOME, 'instar/welcome');
