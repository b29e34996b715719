import type { ChatMessage, TextPart, ToolCallPart } from '../core/chat.ts';
import { isObject, parseJson } from '../core/json.ts';

/**
 * The conversation with the next thing the user says. After a prompt that was never answered it belongs to the same
 * message: many servers refuse a user who speaks twice in a row.
 */
export function withPrompt(history: readonly ChatMessage[], prompt: string): readonly ChatMessage[] {
  const said: TextPart = { type: 'text', text: prompt };
  const last = history.at(-1);
  if (last?.role !== 'user') return [...history, { role: 'user', content: [said] }];
  return [...history.slice(0, -1), { role: 'user', content: [...last.content, said] }];
}

/**
 * A reply as it can be said again on any wire; undefined when there is nothing to say. `calls` are those of
 * `toLastingCalls`.
 */
export function toReply(text: string, calls: readonly ToolCallPart[]): ChatMessage | undefined {
  const said: readonly TextPart[] = text === '' ? [] : [{ type: 'text', text }];
  return said.length + calls.length === 0 ? undefined : { role: 'assistant', content: [...said, ...calls] };
}

/**
 * The calls of one reply as they stay in the conversation. Each has an id that no other has, a name that can be a tool's,
 * and an object for its arguments: models write otherwise, and servers then refuse every request that follows.
 */
export function toLastingCalls(
  calls: readonly ToolCallPart[],
  messages: readonly ChatMessage[],
): readonly ToolCallPart[] {
  const taken = new Set(messages.flatMap(idsIn));
  return calls.map((call) => {
    const id = freeId(call.id, taken);
    taken.add(plain(id));
    return {
      type: 'tool-call',
      id,
      name: plain(call.name).slice(0, 64) || 'unnamed',
      arguments: lasting(call),
    };
  });
}

const idsIn = (message: ChatMessage): readonly string[] =>
  message.role === 'assistant'
    ? message.content.flatMap((part) => (part.type === 'tool-call' ? [plain(part.id)] : []))
    : [];

function freeId(wanted: string, taken: ReadonlySet<string>): string {
  const base = wanted === '' ? 'call' : wanted;
  let id = base;
  for (let nth = 2; taken.has(plain(id)); nth++) id = `${base}_${nth}`;
  return id;
}

/** In the letters that every wire allows; two that look the same in these are the same. */
const plain = (text: string): string => text.replace(/[^\w-]/g, '_');

const lasting = ({ arguments: text }: ToolCallPart): string =>
  isObject(parseJson(text))
    ? text
    : text.trim() === ''
      ? '{}'
      : JSON.stringify({ malformed_arguments: text });
