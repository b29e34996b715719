import type {
  AssistantPart,
  ChatMessage,
  FilePart,
  ReasoningPart,
  TextPart,
  Tool,
  UserPart,
} from '../../core/chat.ts';
import { asArray, asObject, asString, type Json, type JsonObject } from '../../core/json.ts';
import { optionalField, rejectField, requireObject, requireString } from '../fields.ts';
import { decodeResponsesTools, freeformArguments, joinQualifiedName } from './tools.ts';

interface DecodedInput {
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
  if (!Array.isArray(input)) return rejectField('input', 'must be a string or an array of items');
  const into: Reading = { system: [], messages: [], tools: [], dropped: new Set() };
  for (const [n, item] of input.entries())
    decodeItem(requireObject(item, `input[${n}]`), `input[${n}]`, into);
  const messages = into.messages.map(withoutTrailingReasoning).filter(hasContent);
  return { system: into.system, messages, tools: into.tools };
}

function decodeItem(item: JsonObject, at: string, into: Reading): void {
  switch (item.type ?? 'message') {
    case 'message':
      decodeMessage(item, at, into);
      break;
    case 'agent_message':
      into.messages.push({ role: 'user', content: decodeInputParts(item.content, `${at}.content`) });
      break;
    case 'function_call':
      decodeCall(item, at, requireString(item.arguments, `${at}.arguments`), into);
      break;
    case 'custom_tool_call':
      decodeCall(item, at, freeformArguments(requireString(item.input, `${at}.input`)), into);
      break;
    case 'function_call_output':
    case 'custom_tool_call_output':
      decodeOutput(item, at, into);
      break;
    case 'reasoning':
      addAssistant(into, decodeReasoning(item));
      break;
    case 'additional_tools':
      into.tools.push(...decodeResponsesTools(item.tools, `${at}.tools`));
      break;
    default:
      if (typeof item.call_id === 'string') into.dropped.add(item.call_id);
  }
}

function decodeMessage(item: JsonObject, at: string, into: Reading): void {
  const path = `${at}.content`;
  switch (item.role) {
    case 'user':
      into.messages.push({ role: 'user', content: decodeInputParts(item.content, path) });
      break;
    case 'assistant':
      addAssistant(into, decodeInputTexts(item.content, path));
      break;
    case 'system':
    case 'developer': {
      const content = decodeInputTexts(item.content, path);
      if (into.messages.length === 0) into.system.push(...content);
      else into.messages.push({ role: 'system', content });
      break;
    }
    default:
      rejectField(`${at}.role`, 'must be user, assistant, system or developer');
  }
}

function decodeCall(item: JsonObject, at: string, args: string, into: Reading): void {
  const name = joinQualifiedName({
    name: requireString(item.name, `${at}.name`),
    namespace: optionalField(item.namespace, `${at}.namespace`, requireString),
  });
  const id = requireString(item.call_id, `${at}.call_id`);
  addAssistant(into, [{ type: 'tool-call', id, name, arguments: args }]);
}

function decodeOutput(item: JsonObject, at: string, into: Reading): void {
  const callId = requireString(item.call_id, `${at}.call_id`);
  if (into.dropped.has(callId)) return;
  into.messages.push({ role: 'tool', callId, content: decodeInputParts(item.output, `${at}.output`) });
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

export function encodeInputItems(message: ChatMessage): readonly JsonObject[] {
  switch (message.role) {
    case 'user':
      return [{ type: 'message', role: 'user', content: message.content.map(encodeInputPart) }];
    case 'system':
      return [{ type: 'message', role: 'developer', content: message.content.map(encodeInputPart) }];
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
  return first.type === 'text' && second === undefined ? first.text : content.map(encodeInputPart);
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

type Value = Json | undefined;

/** Content as a string or as a list of parts; empty text is left out, since no provider accepts it. */
function decodeInputParts(content: Value, path: string): UserPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  if (!Array.isArray(content)) return rejectField(path, 'must be a string or an array of parts');
  return content.flatMap((part, n) => decodePart(requireObject(part, `${path}[${n}]`), `${path}[${n}]`));
}

function decodeInputTexts(content: Value, path: string): TextPart[] {
  return decodeInputParts(content, path).map((part, n) =>
    part.type === 'text'
      ? part
      : rejectField(`${path}[${n}].type`, `only text is allowed here, not "${part.type}"`),
  );
}

function decodePart(part: JsonObject, path: string): readonly UserPart[] {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return decodeText(part, requireString(part.text, `${path}.text`));
    case 'refusal':
      return decodeText(part, requireString(part.refusal, `${path}.refusal`));
    case 'input_image':
      return [{ type: 'image', url: decodeImageUrl(part, path) }];
    case 'input_file':
      return [decodeFile(part, path)];
    // Only the provider that wrote it can read it.
    case 'encrypted_content':
      return [];
    default:
      return rejectField(
        `${path}.type`,
        'must be input_text, output_text, refusal, input_image or input_file to be sent to this provider',
      );
  }
}

function decodeText(part: JsonObject, text: string): readonly TextPart[] {
  if (text === '') return [];
  const marked = part.prompt_cache_breakpoint !== undefined && part.prompt_cache_breakpoint !== null;
  return [{ type: 'text', text, ...(marked ? { cacheControl: { type: 'ephemeral' } } : {}) }];
}

function decodeImageUrl(part: JsonObject, path: string): string {
  const url = asString(part.image_url);
  if (url) return url;
  return rejectField(
    `${path}.image_url`,
    'must be an https or data: URL (only the provider that stores a file can resolve its file_id)',
  );
}

function decodeFile(part: JsonObject, path: string): FilePart {
  const name = asString(part.filename);
  const named = name === undefined ? {} : { name };
  const url = asString(part.file_url);
  if (url) return { type: 'file', url, ...named };
  const data = asString(part.file_data);
  if (data) return { type: 'file', url: data.startsWith('data:') ? data : `${PDF}${data}`, ...named };
  return rejectField(
    `${path}.file_data`,
    'send the file as file_data or file_url (only the provider that stores a file can resolve its file_id)',
  );
}

/** Bare base64 has no media type; every provider of this wire accepts PDF files. */
const PDF = 'data:application/pdf;base64,';

export function encodeInputPart(part: UserPart): JsonObject {
  if (part.type === 'text') return { type: 'input_text', text: part.text };
  if (part.type === 'image') return { type: 'input_image', image_url: part.url, detail: 'auto' };
  if (!part.url.startsWith('data:')) return { type: 'input_file', file_url: part.url };
  return { type: 'input_file', filename: part.name ?? 'file.pdf', file_data: part.url };
}

interface ReasoningTexts {
  readonly source: 'words' | 'summary';
  readonly texts: readonly string[];
}

/** The texts of a reasoning item: the model's reasoning if the provider sends it, else its summary. */
export function reasoningTexts(item: JsonObject): ReasoningTexts {
  const words = textsOf(item.content);
  return words.some((text) => text !== '')
    ? { source: 'words', texts: words }
    : { source: 'summary', texts: textsOf(item.summary) };
}

const textsOf = (list: Json | undefined): readonly string[] =>
  asArray(list).map((part) => asString(asObject(part).text) ?? '');
