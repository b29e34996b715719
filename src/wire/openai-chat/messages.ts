import type {
  AssistantPart,
  ChatMessage,
  ChatRequest,
  FilePart,
  TextPart,
  ToolCallPart,
  UserPart,
} from '../../core/chat.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import {
  isAbsent,
  optionalField,
  rejectField,
  requireArray,
  requireObject,
  requireString,
  requireText,
} from '../fields.ts';
import { decodeReasoning, encodeReasoning } from './reasoning.ts';

type Conversation = Pick<ChatRequest, 'system' | 'messages'>;

export function decodeChatMessages(value: Json | undefined): Conversation {
  const list = requireArray(value, 'messages');
  if (list.length === 0) rejectField('messages', 'must contain at least one message');
  const system: TextPart[] = [];
  const messages: ChatMessage[] = [];
  let legacyId = '';
  for (const [index, entry] of list.entries()) {
    const path = `messages[${index}]`;
    const message = requireObject(entry, path);
    const role = requireString(message.role, `${path}.role`);
    if (role === 'system' || role === 'developer') {
      const content = decodeTextContent(message.content, `${path}.content`);
      if (messages.length === 0) system.push(...content);
      else if (content.length > 0) messages.push({ role: 'system', content });
    } else if (role === 'user') {
      messages.push({ role, content: decodeUserContent(message.content, `${path}.content`) });
    } else if (role === 'assistant') {
      const id = `call_m${index}`;
      const content = decodeAssistantMessage(message, path, id);
      if (content.some((part) => part.type === 'tool-call' && part.id === id)) legacyId = id;
      messages.push({ role, content });
    } else if (role === 'tool' || role === 'function') {
      const callId = role === 'tool' ? requireText(message.tool_call_id, `${path}.tool_call_id`) : legacyId;
      if (callId === '') rejectField(`${path}.role`, '"function" must follow an assistant’s function_call');
      messages.push({
        role: 'tool',
        callId,
        content: decodeUserContent(message.content, `${path}.content`),
      });
    } else rejectField(`${path}.role`, `${JSON.stringify(role.slice(0, 40))} is not a role`);
  }
  return { system, messages };
}

/**
 * A tool message may contain only text, so images and files of tool results follow in a user message. It comes after
 * all results of the turn: nothing may come between a call and its results.
 */
export function encodeChatMessages(
  { system, messages }: Conversation,
  { plainText, reasoning }: { readonly plainText: boolean; readonly reasoning: boolean },
): readonly JsonObject[] {
  const out: JsonObject[] = [];
  let attached: UserPart[] = [];
  const push = (role: 'system' | 'user', parts: readonly UserPart[]) =>
    out.push({ role, content: encodeContent(parts, plainText) });
  const flush = () => {
    if (attached.length > 0) push('user', attached);
    attached = [];
  };
  if (system.length > 0) push('system', system);
  for (const message of messages) {
    if (message.role === 'tool') {
      const media = message.content.filter((part) => part.type !== 'text');
      if (media.length > 0) attached.push({ type: 'text', text: noteOf(message.callId) }, ...media);
      out.push({
        role: 'tool',
        tool_call_id: message.callId,
        content: textOfResult(message.content) || (media.length > 0 ? ATTACHED_BELOW : ''),
      });
    } else if (message.role === 'user') {
      // One message, not two: strict chat templates require alternating roles.
      push('user', [...attached, ...message.content]);
      attached = [];
    } else {
      flush();
      if (message.role === 'system') push('system', message.content);
      else out.push(encodeAssistantMessage(message.content, reasoning));
    }
  }
  flush();
  return out;
}

const ATTACHED_BELOW = 'The result is attached to the next user message.';
const noteOf = (callId: string): string => `Attached to the result of tool call ${callId}:`;

const textOfResult = (parts: readonly UserPart[]): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');

/** `legacyId` is used for a call in the old `function_call` form, which has no id. */
function decodeAssistantMessage(message: JsonObject, path: string, legacyId: string): AssistantPart[] {
  const texts = [...decodeTexts(message.content, `${path}.content`)];
  if (!isAbsent(message.refusal)) texts.push(requireString(message.refusal, `${path}.refusal`));
  return [
    ...decodeReasoning(message),
    ...texts.filter((text) => text !== '').map((text) => ({ type: 'text' as const, text })),
    ...decodeCalls(message, path, legacyId),
  ];
}

function decodeTexts(value: Json | undefined, path: string): readonly string[] {
  if (isAbsent(value)) return [];
  if (typeof value === 'string') return [value];
  if (!Array.isArray(value)) rejectField(path, 'must be a string, null or an array of parts');
  return requireArray(value, path).map((entry, index) => {
    const part = requireObject(entry, `${path}[${index}]`);
    if (part.type === 'text') return requireString(part.text, `${path}[${index}].text`);
    if (part.type === 'refusal') return requireString(part.refusal, `${path}[${index}].refusal`);
    return rejectField(`${path}[${index}].type`, 'must be "text" or "refusal" in an assistant message');
  });
}

function decodeCalls(message: JsonObject, path: string, legacyId: string): ToolCallPart[] {
  if (!isAbsent(message.tool_calls)) {
    return requireArray(message.tool_calls, `${path}.tool_calls`).map((entry, index) => {
      const here = `${path}.tool_calls[${index}]`;
      const call = requireObject(entry, here);
      if (!isAbsent(call.type) && call.type !== 'function') {
        rejectField(`${here}.type`, 'only calls of type "function" can be translated');
      }
      return decodeFunction(call.function, `${here}.function`, requireText(call.id, `${here}.id`));
    });
  }
  if (isAbsent(message.function_call)) return [];
  return [decodeFunction(message.function_call, `${path}.function_call`, legacyId)];
}

function decodeFunction(value: Json | undefined, path: string, id: string): ToolCallPart {
  const call = requireObject(value, path);
  return {
    type: 'tool-call',
    id,
    name: requireText(call.name, `${path}.name`),
    arguments: requireString(call.arguments, `${path}.arguments`),
  };
}

/** Text is one string, since several servers refuse an array here; text after a call moves before it. */
export function encodeAssistantMessage(parts: readonly AssistantPart[], withReasoning: boolean): JsonObject {
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  const calls = parts.filter((part) => part.type === 'tool-call');
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...(withReasoning ? encodeReasoning(parts.filter((part) => part.type === 'reasoning')) : {}),
    ...(calls.length > 0 ? { tool_calls: calls.map(encodeCall) } : {}),
  };
}

const encodeCall = (call: ToolCallPart): JsonObject => ({
  id: call.id,
  type: 'function',
  // Clients parse the arguments as JSON, so a call without arguments must contain an empty object.
  function: { name: call.name, arguments: call.arguments === '' ? '{}' : call.arguments },
});

/** Content that may only be text: a string, or parts of type `text`. Empty text is left out. */
const decodeTextContent = (value: Json | undefined, path: string): TextPart[] =>
  decodeParts(value, path, (part, here) => {
    const decoded = decodePart(part, here);
    return decoded.type === 'text' ? decoded : rejectField(`${here}.type`, 'must be "text" here');
  });

/** The content of a user or tool message: a string, or parts. Empty text is left out. */
const decodeUserContent = (value: Json | undefined, path: string): UserPart[] =>
  decodeParts(value, path, decodePart);

function decodeParts<T extends UserPart>(
  value: Json | undefined,
  path: string,
  decode: (part: JsonObject, path: string) => T | TextPart,
): (T | TextPart)[] {
  if (isAbsent(value)) return [];
  if (typeof value === 'string') return value === '' ? [] : [{ type: 'text', text: value }];
  if (!Array.isArray(value)) rejectField(path, 'must be a string or an array of parts');
  return requireArray(value, path)
    .map((part, index) => decode(requireObject(part, `${path}[${index}]`), `${path}[${index}]`))
    .filter((part) => part.type !== 'text' || part.text !== '');
}

function decodePart(part: JsonObject, path: string): UserPart {
  const type = requireString(part.type, `${path}.type`);
  if (type === 'text') {
    const text = requireString(part.text, `${path}.text`);
    return isAbsent(part.cache_control) ? { type, text } : { type, text, cacheControl: part.cache_control };
  }
  if (type === 'image_url') {
    const image = requireObject(part.image_url, `${path}.image_url`);
    return { type: 'image', url: requireText(image.url, `${path}.image_url.url`) };
  }
  if (type === 'file') return decodeFile(requireObject(part.file, `${path}.file`), `${path}.file`);
  return rejectField(`${path}.type`, `a part of type ${JSON.stringify(type)} cannot be translated`);
}

function decodeFile(file: JsonObject, path: string): FilePart {
  if (isAbsent(file.file_data) && !isAbsent(file.file_id)) {
    rejectField(`${path}.file_id`, 'an uploaded file cannot be translated; send its content as file_data');
  }
  const data = requireText(file.file_data, `${path}.file_data`);
  // The reference says base64, its examples show a data URL; this format accepts only PDF.
  const url = /^(?:data|https?):/i.test(data) ? data : `data:application/pdf;base64,${data}`;
  const name = optionalField(file.filename, `${path}.filename`, requireString);
  return name === undefined ? { type: 'file', url } : { type: 'file', url, name };
}

/** One string where it is equivalent to an array, since every server accepts a string. */
function encodeContent(parts: readonly UserPart[], plainText: boolean): string | readonly JsonObject[] {
  const encoded = parts.map(encodePart);
  const texts = encoded.flatMap((part) => (typeof part.text === 'string' ? [part.text] : []));
  const onlyText = texts.length === encoded.length;
  return onlyText && (plainText || texts.length < 2) ? texts.join('\n\n') : encoded;
}

function encodePart(part: UserPart): JsonObject {
  if (part.type === 'text') return { type: 'text', text: part.text };
  if (part.type === 'image') return { type: 'image_url', image_url: { url: part.url } };
  const text = textOfFile(part.url);
  if (text !== undefined) return { type: 'text', text: part.name ? `${part.name}:\n${text}` : text };
  return { type: 'file', file: { filename: part.name ?? 'document.pdf', file_data: part.url } };
}

/** The text of a plain-text file, which this format refuses as a file. */
function textOfFile(url: string): string | undefined {
  const comma = url.indexOf(',');
  const head = url.slice(0, comma).toLowerCase();
  if (comma < 0 || !head.startsWith('data:text/')) return undefined;
  const data = url.slice(comma + 1);
  if (head.endsWith(';base64')) return Buffer.from(data, 'base64').toString('utf8');
  try {
    return decodeURIComponent(data);
  } catch {
    return data;
  }
}
