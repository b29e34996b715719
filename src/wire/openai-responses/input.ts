import type { AssistantPart, ChatMessage, ReasoningPart, TextPart, Tool } from '../../core/chat.ts';
import { asString, type Json, type JsonObject } from '../../core/json.ts';
import { objectAt, optional, refuse, stringAt } from '../fields.ts';
import { freeformArguments } from './freeform.ts';
import { decodeParts, decodeTextParts, encodePart } from './parts.ts';
import { joinName } from './qualified-name.ts';
import { reasoningTexts } from './reasoning-text.ts';
import { decodeTools } from './tools.ts';

export interface DecodedInput {
  readonly system: TextPart[];
  readonly messages: ChatMessage[];
  /** Codex sends its tools as an input item. */
  readonly tools: Tool[];
}

interface Reading extends DecodedInput {
  /** Calls of tools that cannot be translated; their results are dropped too. */
  readonly dropped: Set<string>;
}

/**
 * Decodes input items: neighbouring assistant items become one message, in order. Items that only their own provider
 * understands are left out.
 */
export function decodeInput(input: Json | undefined): DecodedInput {
  if (typeof input === 'string') {
    return { system: [], messages: [{ role: 'user', content: [{ type: 'text', text: input }] }], tools: [] };
  }
  if (!Array.isArray(input)) return refuse('input', 'must be a string or an array of items');
  const into: Reading = { system: [], messages: [], tools: [], dropped: new Set() };
  for (const [n, item] of input.entries()) decodeItem(objectAt(item, `input[${n}]`), `input[${n}]`, into);
  const messages = into.messages.map(withoutTrailingReasoning).filter(hasContent);
  return { system: into.system, messages, tools: into.tools };
}

function decodeItem(item: JsonObject, at: string, into: Reading): void {
  switch (item.type ?? 'message') {
    case 'message':
      decodeMessage(item, at, into);
      break;
    case 'agent_message':
      into.messages.push({ role: 'user', content: decodeParts(item.content, `${at}.content`) });
      break;
    case 'function_call':
      decodeCall(item, at, stringAt(item.arguments, `${at}.arguments`), into);
      break;
    case 'custom_tool_call':
      decodeCall(item, at, freeformArguments(stringAt(item.input, `${at}.input`)), into);
      break;
    case 'function_call_output':
    case 'custom_tool_call_output':
      decodeOutput(item, at, into);
      break;
    case 'reasoning':
      addAssistant(into, decodeReasoning(item));
      break;
    case 'additional_tools':
      into.tools.push(...decodeTools(item.tools, `${at}.tools`));
      break;
    default:
      if (typeof item.call_id === 'string') into.dropped.add(item.call_id);
  }
}

function decodeMessage(item: JsonObject, at: string, into: Reading): void {
  const path = `${at}.content`;
  switch (item.role) {
    case 'user':
      into.messages.push({ role: 'user', content: decodeParts(item.content, path) });
      break;
    case 'assistant':
      addAssistant(into, decodeTextParts(item.content, path));
      break;
    case 'system':
    case 'developer': {
      const content = decodeTextParts(item.content, path);
      if (into.messages.length === 0) into.system.push(...content);
      else into.messages.push({ role: 'system', content });
      break;
    }
    default:
      refuse(`${at}.role`, 'must be user, assistant, system or developer');
  }
}

function decodeCall(item: JsonObject, at: string, args: string, into: Reading): void {
  const name = joinName({
    name: stringAt(item.name, `${at}.name`),
    namespace: optional(item.namespace, `${at}.namespace`, stringAt),
  });
  const id = stringAt(item.call_id, `${at}.call_id`);
  addAssistant(into, [{ type: 'tool-call', id, name, arguments: args }]);
}

function decodeOutput(item: JsonObject, at: string, into: Reading): void {
  const callId = stringAt(item.call_id, `${at}.call_id`);
  if (into.dropped.has(callId)) return;
  into.messages.push({ role: 'tool', callId, content: decodeParts(item.output, `${at}.output`) });
}

function decodeReasoning(item: JsonObject): readonly ReasoningPart[] {
  const text = reasoningTexts(item)
    .texts.filter((part) => part !== '')
    .join('\n\n');
  const signature = asString(item.encrypted_content) || undefined;
  if (text === '' && signature === undefined) return [];
  return [{ type: 'reasoning', text, ...(signature === undefined ? {} : { signature }) }];
}

function addAssistant(into: Reading, parts: readonly AssistantPart[]): void {
  if (parts.length === 0) return;
  const last = into.messages.at(-1);
  if (last?.role === 'assistant') {
    into.messages[into.messages.length - 1] = { role: 'assistant', content: [...last.content, ...parts] };
  } else into.messages.push({ role: 'assistant', content: parts });
}

/** Other providers refuse reasoning without an answer, as it remains when the user interrupts. */
function withoutTrailingReasoning(message: ChatMessage): ChatMessage {
  if (message.role !== 'assistant') return message;
  const end = message.content.findLastIndex((part) => part.type !== 'reasoning') + 1;
  return { role: 'assistant', content: message.content.slice(0, end) };
}

const hasContent = (message: ChatMessage): boolean => message.role === 'tool' || message.content.length > 0;

export function encodeMessage(message: ChatMessage): readonly JsonObject[] {
  switch (message.role) {
    case 'user':
      return [{ type: 'message', role: 'user', content: message.content.map(encodePart) }];
    case 'system':
      return [{ type: 'message', role: 'developer', content: message.content.map(encodePart) }];
    case 'tool':
      return [
        { type: 'function_call_output', call_id: message.callId, output: encodeOutput(message.content) },
      ];
    case 'assistant':
      return encodeAssistant(message.content);
  }
}

function encodeOutput(content: Extract<ChatMessage, { role: 'tool' }>['content']): Json {
  const [first, second] = content;
  if (first === undefined) return '';
  return first.type === 'text' && second === undefined ? first.text : content.map(encodePart);
}

function encodeAssistant(parts: readonly AssistantPart[]): readonly JsonObject[] {
  const items: JsonObject[] = [];
  let texts: JsonObject[] | undefined;
  for (const part of parts) {
    if (part.type === 'text') {
      if (!texts) {
        texts = [];
        items.push({ type: 'message', role: 'assistant', content: texts });
      }
      texts.push({ type: 'output_text', text: part.text });
      continue;
    }
    texts = undefined;
    if (part.type === 'tool-call') {
      const { id, name } = part;
      items.push({ type: 'function_call', call_id: id, name, arguments: part.arguments || '{}' });
    } else if (part.signature !== undefined) {
      const summary = part.text === '' ? [] : [{ type: 'summary_text', text: part.text }];
      items.push({ type: 'reasoning', summary, encrypted_content: part.signature });
    }
  }
  return items;
}
