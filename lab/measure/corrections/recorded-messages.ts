import type { AssistantPart, ChatMessage, UserPart } from '../../../src/core/chat.ts';
import { asArray, asObject, asString, isObject, type Json, type JsonObject } from '../../../src/core/json.ts';

/** One request of the client and the recorded answer to it. */
export interface RecordedTurn {
  /** What the client adds to the conversation with this request: the user's words, or results of tools. */
  readonly added: readonly ChatMessage[];
  readonly reply: readonly AssistantPart[];
  /** The user speaks in it. */
  readonly isSpoken: boolean;
}

export interface RecordedSession {
  /** System texts that the recording has, beside the client's own. */
  readonly system: readonly string[];
  readonly turns: readonly RecordedTurn[];
  /** The user's first message. */
  readonly firstTask: string | undefined;
}

/** A recording that ends with the user's words: the agent accepts them. */
const ACCEPTS: readonly AssistantPart[] = [{ type: 'text', text: 'Okay.' }];

/**
 * Reads the messages of one session, in the forms of OpenAI's chat, of Anthropic's messages or of OpenAI's responses, also
 * mixed. Unknown roles are the user's, unknown parts are left out.
 */
export function readRecordedMessages(messages: readonly Json[]): RecordedSession {
  const system: string[] = [];
  const turns: RecordedTurn[] = [];
  let firstTask: string | undefined;
  let added: ChatMessage[] = [];
  let reply: AssistantPart[] = [];
  let calls = 0;
  /** A result without an id belongs to the oldest call that has none yet. */
  const open: string[] = [];
  const nextId = (): string => `call_${calls++}`;
  const close = (): void => {
    if (added.length === 0) return;
    const isSpoken = added.some(({ role }) => role === 'user');
    turns.push({ added, reply: reply.length === 0 ? ACCEPTS : reply, isSpoken });
    [added, reply] = [[], []];
  };
  for (const value of messages) {
    const message = asObject(value);
    const from = roleOf(message);
    if (from === 'system') {
      system.push(textOf(message.content));
      continue;
    }
    if (from === 'assistant') {
      const parts = assistantParts(message, nextId);
      for (const part of parts) if (part.type === 'tool-call') open.push(part.id);
      // Words before anybody asked are part of no turn.
      if (added.length > 0) reply.push(...parts);
      continue;
    }
    if (reply.length > 0) close();
    const results = toolResults(message, from, open);
    const words = from === 'user' ? textOf(withoutResults(message.content)) : '';
    added.push(...results);
    if (words.trim() === '') continue;
    firstTask ??= words;
    added.push({ role: 'user', content: [text(words)] });
  }
  close();
  return { system, turns, firstTask };
}

type Speaker = 'user' | 'assistant' | 'tool' | 'system';

function roleOf({ role, type }: JsonObject): Speaker {
  if (type === 'function_call' || type === 'custom_tool_call' || type === 'local_shell_call')
    return 'assistant';
  if (type === 'function_call_output' || type === 'custom_tool_call_output') return 'tool';
  if (role === 'assistant' || role === 'model' || role === 'agent') return 'assistant';
  if (role === 'tool' || role === 'function') return 'tool';
  return role === 'system' || role === 'developer' ? 'system' : 'user';
}

const text = (words: string): UserPart => ({ type: 'text', text: words });

/** The text of a content, as a string or in parts. */
function textOf(content: Json | undefined): string {
  if (typeof content === 'string') return content;
  if (isObject(content)) return asString(content.text) ?? asString(content.content) ?? '';
  return asArray(content)
    .flatMap((part) => (typeof part === 'string' ? part : (asString(asObject(part).text) ?? [])))
    .join('\n');
}

function assistantParts(message: JsonObject, nextId: () => string): readonly AssistantPart[] {
  const calls: AssistantPart[] = [];
  const call = (id: unknown, name: unknown, given: unknown): void => {
    const json = typeof given === 'string' ? given : JSON.stringify(given ?? {});
    calls.push({
      type: 'tool-call',
      id: asString(id) ?? nextId(),
      name: asString(name) ?? 'bash',
      arguments: json,
    });
  };
  const { type, content, tool_calls: listed, function_call: single } = message;
  if (type === 'function_call' || type === 'custom_tool_call' || type === 'local_shell_call')
    call(message.call_id ?? message.id, message.name, message.arguments ?? message.input ?? message.action);
  for (const part of asArray(content).map(asObject))
    if (part.type === 'tool_use' || part.type === 'tool-call')
      call(part.id ?? part.toolCallId, part.name ?? part.toolName, part.input ?? part.args ?? part.arguments);
  for (const one of asArray(listed).map(asObject)) {
    const made = isObject(one.function) ? one.function : one;
    call(one.id, made.name, made.arguments ?? made.input ?? made.args);
  }
  if (isObject(single)) call(undefined, single.name, single.arguments);
  const words = textOf(content);
  return words.trim() === '' ? calls : [{ type: 'text', text: words }, ...calls];
}

const isResult = ({ type }: JsonObject): boolean => type === 'tool_result' || type === 'tool-result';

function toolResults(message: JsonObject, from: Speaker, open: string[]): readonly ChatMessage[] {
  const result = (id: string | undefined, content: Json | undefined, isError: boolean): ChatMessage => {
    const callId = id ?? open[0] ?? 'call_unknown';
    const at = open.indexOf(callId);
    if (at >= 0) open.splice(at, 1);
    return { role: 'tool', callId, content: [text(textOf(content))], ...(isError ? { isError: true } : {}) };
  };
  if (from === 'tool') {
    const id = asString(message.tool_call_id) ?? asString(message.call_id) ?? asString(message.tool_use_id);
    return [result(id, message.content ?? message.output, message.is_error === true)];
  }
  return asArray(message.content)
    .map(asObject)
    .filter(isResult)
    .map((part) => {
      const id = asString(part.tool_use_id) ?? asString(part.toolCallId);
      return result(id, part.content ?? part.output ?? part.result, part.is_error === true);
    });
}

const withoutResults = (content: Json | undefined): Json | undefined =>
  Array.isArray(content) ? content.filter((part) => !isResult(asObject(part))) : content;
