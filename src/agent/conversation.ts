import type { ChatMessage, TextPart, ToolCallPart } from '../core/chat.ts';
import { isObject, parseJson } from '../core/json.ts';

/**
 * The conversation with the user's next prompt. After a prompt without a reply it is appended to the same message, since many
 * servers reject two user messages in a row.
 */
export function withPrompt(history: readonly ChatMessage[], prompt: string): readonly ChatMessage[] {
  const part: TextPart = { type: 'text', text: prompt };
  const last = history.at(-1);
  if (last?.role !== 'user') return [...history, { role: 'user', content: [part] }];
  return [...history.slice(0, -1), { role: 'user', content: [...last.content, part] }];
}

/**
 * A reply as a message that every wire accepts; undefined for an empty reply. `calls` are those of `toLastingCalls`.
 */
export function toReply(text: string, calls: readonly ToolCallPart[]): ChatMessage | undefined {
  const parts: readonly TextPart[] = text === '' ? [] : [{ type: 'text', text }];
  return parts.length + calls.length === 0 ? undefined : { role: 'assistant', content: [...parts, ...calls] };
}

/**
 * The tool calls of one reply as they are kept in the conversation. Each has a unique id, a valid tool name and an object as
 * its arguments. Models violate this, and servers would then reject every later request.
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

/** With only the characters that every wire allows. */
const plain = (text: string): string => text.replace(/[^\w-]/g, '_');

const lasting = ({ arguments: text }: ToolCallPart): string =>
  isObject(parseJson(text))
    ? text
    : text.trim() === ''
      ? '{}'
      : JSON.stringify({ malformed_arguments: text });
