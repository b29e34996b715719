import type { AssistantPart, ChatMessage, ChatRequest, UserPart } from '../core/chat.ts';
import { isObject, type Json, type JsonObject, parseJson } from '../core/json.ts';
import { TrainingError } from '../core/training.ts';

/** A message in the form that chat templates read. */
export interface TemplateMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly TemplateCall[];
  readonly tool_call_id?: string;
  readonly name?: string;
}

export interface TemplateCall {
  readonly id: string;
  readonly type: 'function';
  /** Arguments that are not a JSON object stay text. */
  readonly function: { readonly name: string; readonly arguments: Json };
}

/** Throws a TrainingError when a message has a part that is not text. */
export function templateMessagesOf({ system, messages }: ChatRequest): readonly TemplateMessage[] {
  const names = new Map<string, string>();
  const leading = textOf(system);
  return [
    ...(leading === '' ? [] : [{ role: 'system', content: leading } as const]),
    ...messages.map((message) => templateMessageOf(message, names)),
  ];
}

export const templateToolsOf = ({ tools, toolChoice }: ChatRequest): readonly JsonObject[] =>
  toolChoice === 'none'
    ? []
    : tools.map(({ name, description, parameters }) => ({
        type: 'function',
        function: { name, ...(description === undefined ? {} : { description }), parameters },
      }));

function templateMessageOf(message: ChatMessage, names: Map<string, string>): TemplateMessage {
  switch (message.role) {
    case 'system':
    case 'user':
      return { role: message.role, content: textOf(message.content) };
    case 'assistant':
      return assistantOf(message.content, names);
    case 'tool': {
      const name = names.get(message.callId);
      const content = textOf(message.content);
      return {
        role: 'tool',
        content,
        tool_call_id: message.callId,
        ...(name === undefined ? {} : { name }),
      };
    }
  }
}

function assistantOf(parts: readonly AssistantPart[], names: Map<string, string>): TemplateMessage {
  const joined = (type: 'text' | 'reasoning'): string =>
    parts.map((part) => (part.type === type ? part.text : '')).join('');
  const calls = parts.flatMap((part): TemplateCall[] => {
    if (part.type !== 'tool-call') return [];
    names.set(part.id, part.name);
    const given = parseJson(part.arguments);
    const value = isObject(given) ? given : part.arguments;
    return [{ id: part.id, type: 'function', function: { name: part.name, arguments: value } }];
  });
  const reasoning = joined('reasoning');
  return {
    role: 'assistant',
    content: joined('text'),
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    // Templates test whether the member exists, not whether it is empty.
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}

function textOf(parts: readonly UserPart[]): string {
  const other = parts.find(({ type }) => type !== 'text');
  if (other !== undefined)
    throw new TrainingError(
      'user',
      `The policy reads only text, but a message has a part of type ${other.type}. Use another model for it.`,
    );
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n\n');
}

/** For templates without system messages, or with only one: system text is put before the user's next message. */
export function foldSystem(messages: readonly TemplateMessage[]): readonly TemplateMessage[] {
  const folded: TemplateMessage[] = [];
  for (const message of messages) {
    const before = folded.at(-1);
    const asUser: TemplateMessage = message.role === 'system' ? { ...message, role: 'user' } : message;
    if (asUser.role === 'user' && before?.role === 'user')
      folded[folded.length - 1] = { ...before, content: `${before.content}\n\n${asUser.content}` };
    else folded.push(asUser);
  }
  return folded;
}

/** For templates with one call per message: each call is made and answered before the next. */
export function separateCalls(messages: readonly TemplateMessage[]): readonly TemplateMessage[] {
  const answered = new Set<TemplateMessage>();
  return messages.flatMap((message, at): readonly TemplateMessage[] => {
    const { tool_calls: calls = [] } = message;
    if (calls.length < 2) return answered.has(message) ? [] : [message];
    return calls.flatMap((call, index) => {
      const answer = messages.find((one, later) => later > at && one.tool_call_id === call.id);
      if (answer !== undefined) answered.add(answer);
      const alone = { ...message, content: index === 0 ? message.content : '', tool_calls: [call] };
      return answer === undefined ? [alone] : [alone, answer];
    });
  });
}
